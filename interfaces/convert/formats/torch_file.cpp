#include "convert/formats/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "convert/formats/pickle.h"

namespace nmt::convert {
namespace {

using Kind = PickleValue::Kind;
constexpr int64_t kLargestStride = int64_t{1} << 40;
constexpr size_t kLongestTensorName = 200, kMostTensorAxes = 8;

struct StorageType {
  const char* storage;
  const char* type;
  int64_t size;
};
constexpr StorageType kStorageTypes[] = {{"torch.FloatStorage", "F32", 4},     {"torch.HalfStorage", "F16", 2},
                                         {"torch.BFloat16Storage", "BF16", 2}, {"torch.DoubleStorage", "F64", 8},
                                         {"torch.LongStorage", "I64", 8},      {"torch.IntStorage", "I32", 4}};

/// A tensor whose storage is still to be found.
struct Pending {
  std::string name, storage_key;
  const StorageType* type = nullptr;
  int64_t offset = 0;
  Shape shape, strides;
};

class StateDictionary {
 public:
  StateDictionary(const PickleValue& value, const std::string& file) : file_(file) {
    const auto& items = expect(value, Kind::kDict, 0).items;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      tensors_.push_back(tensor(short_text(*items[i]), *items[i + 1]));
    }
  }
  const std::vector<Pending>& tensors() const { return tensors_; }

  /// Places in the storage are checked, lengths of the data when they are read.
  StoredArray stored(const Pending& tensor, std::span<const std::byte> storage) const {
    const auto elements = static_cast<int64_t>(storage.size()) / tensor.type->size;
    if (!is_countable(tensor.shape)) throw damaged(tensor.name);
    const int64_t count = element_count(tensor.shape);
    if (tensor.offset < 0 || tensor.offset > elements) throw damaged(tensor.name);  // else the sum could overflow
    int64_t last = tensor.offset;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      if (tensor.strides[i] < 0 || tensor.strides[i] > kLargestStride) throw damaged(tensor.name);
      if (tensor.shape[i] > 1 && tensor.strides[i] > elements / (tensor.shape[i] - 1)) throw damaged(tensor.name);
      last += std::max<int64_t>(tensor.shape[i] - 1, 0) * tensor.strides[i];
    }
    if (count > elements || (count > 0 && last >= elements)) throw damaged(tensor.name);
    return {.type = tensor.type->type,
            .shape = tensor.shape,
            .strides = tensor.strides,
            .data = count > 0 ? storage.subspan(tensor.offset * tensor.type->size) : storage.first(0)};
  }

 private:
  Error damaged(const std::string& name) const {
    return Error(fmt::format("{}: damaged: {}; fetch the file again", file_, name.substr(0, 80)));
  }
  const PickleValue& expect(const PickleValue& value, Kind kind, size_t items) const {
    if (value.kind != kind || value.items.size() < items) throw damaged("not a dictionary of tensors");
    return value;
  }
  /// Texts are copied, and a pickle can name the same one again and again.
  const std::string& short_text(const PickleValue& value) const {
    const auto& text = expect(value, Kind::kText, 0).text;
    if (text.size() > kLongestTensorName) throw damaged(text);
    return text;
  }
  Shape numbers(const PickleValue& value) const {
    if (expect(value, Kind::kList, 0).items.size() > kMostTensorAxes) throw damaged("the shape of a tensor");
    Shape result;
    for (const auto* item : value.items) result.push_back(expect(*item, Kind::kInt, 0).number);
    return result;
  }

  Pending tensor(const std::string& name, const PickleValue& value) const {
    const PickleValue* call = &expect(value, Kind::kCall, 1);
    if (call->text == "torch._utils._rebuild_parameter") call = &expect(*call->items[0], Kind::kCall, 1);
    if (call->text != "torch._utils._rebuild_tensor_v2") throw damaged(name);
    expect(*call, Kind::kCall, 4);
    const auto& id = expect(*call->items[0], Kind::kPersistent, 5);  // 'storage', type, key, device, elements
    const auto& storage = expect(*id.items[1], Kind::kGlobal, 0).text;
    Pending pending{.name = name,
                    .storage_key = short_text(*id.items[2]),
                    .type = nullptr,
                    .offset = expect(*call->items[1], Kind::kInt, 0).number,
                    .shape = numbers(*call->items[2]),
                    .strides = numbers(*call->items[3])};
    for (const auto& type : kStorageTypes)
      if (storage == type.storage) pending.type = &type;
    if (!pending.type)
      throw Error(fmt::format("{}: tensor {} has type {}, which weights do not have", file_, name, storage));
    if (pending.shape.size() != pending.strides.size()) throw damaged(name);
    return pending;
  }

  const std::string& file_;
  std::vector<Pending> tensors_;
};

using Storages = std::map<std::string, std::span<const std::byte>>;

std::map<std::string, StoredArray> resolve(const StateDictionary& dictionary, const Storages& storages,
                                           const std::string& name) {
  std::map<std::string, StoredArray> arrays;
  for (const auto& tensor : dictionary.tensors()) {
    const auto found = storages.find(tensor.storage_key);
    if (found == storages.end())
      throw Error(fmt::format("{}: damaged: the data of {} are missing; fetch the file again", name, tensor.name));
    arrays[tensor.name] = dictionary.stored(tensor, found->second);
  }
  return arrays;
}

// NAME/data.pkl and NAME/data/KEY.
std::map<std::string, StoredArray> read_archive(const ZipMembers& members, const std::string& name) {
  std::string folder;
  std::span<const std::byte> description;
  for (const auto& [member, data] : members)
    if (member.ends_with("/data.pkl")) {
      folder = member.substr(0, member.size() - std::strlen("data.pkl"));
      description = as_bytes(data);
    }
  if (folder.empty()) throw Error(name + ": not what torch.save() writes (data.pkl is missing)");
  Storages storages;
  const std::string prefix = folder + "data/";
  for (const auto& [member, data] : members)
    if (member.starts_with(prefix)) storages[member.substr(prefix.size())] = as_bytes(data);
  const Pickle pickle(description, name);
  return resolve(StateDictionary(pickle.value(), name), storages, name);
}

// Before PyTorch 1.6: pickles of a magic number, a version, the system, the dictionary, the storages' keys; then each
// storage: u64 number of elements, data.
std::map<std::string, StoredArray> read_legacy(std::span<const std::byte> file, const std::string& name) {
  auto rest = file;
  const auto next = [&] {
    auto pickle = std::make_unique<Pickle>(rest, name);
    rest = rest.subspan(pickle->size());
    return pickle;
  };
  constexpr auto kMagic = static_cast<int64_t>(0xa86a20f9469cfc6c);  // the lowest bytes of torch's number
  if (next()->value().number != kMagic) throw Error(name + ": not what torch.save() writes");
  for (int i = 0; i < 2; ++i) next();
  const auto description = next();
  const auto keys = next();
  const StateDictionary dictionary(description->value(), name);
  std::map<std::string, int64_t> sizes;
  for (const auto& tensor : dictionary.tensors()) sizes[tensor.storage_key] = tensor.type->size;
  Storages storages;
  for (const auto* key : keys->value().items) {
    uint64_t count = 0;
    if (rest.size() < sizeof count) throw Error(name + ": damaged: it ends too early; fetch the file again");
    std::memcpy(&count, rest.data(), sizeof count);
    rest = rest.subspan(sizeof count);
    const auto size = sizes.find(key->text);
    if (size == sizes.end() || count > rest.size() / size->second)
      throw Error(name + ": damaged: it ends too early; fetch the file again");
    storages[key->text] = rest.first(count * size->second);
    rest = rest.subspan(count * size->second);
  }
  return resolve(dictionary, storages, name);
}

}  // namespace

std::map<std::string, StoredArray> read_torch_file(std::span<const std::byte> file, const std::string& name,
                                                   ZipMembers& members) {
  const bool is_archive = file.size() > 2 && std::memcmp(file.data(), "PK", 2) == 0;
  if (!is_archive) return read_legacy(file, name);
  members = read_zip(file, name);
  return read_archive(members, name);
}

}  // namespace nmt::convert
