#include "models/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace nmt {
namespace {

struct TypeName {
  const char* name;
  at::ScalarType type;
};
constexpr TypeName kTypes[] = {{"F32", torch::kFloat32}, {"BF16", torch::kBFloat16}, {"F16", torch::kFloat16},
                               {"F64", torch::kFloat64}, {"I64", torch::kInt64},     {"I32", torch::kInt32},
                               {"I8", torch::kInt8},     {"U8", torch::kUInt8}};

Error damaged(const std::filesystem::path& path, const std::string& what) {
  return Error(fmt::format("{}: damaged: {}; copy the file again or use another checkpoint", path.string(), what));
}

const char* type_name(at::ScalarType type) {
  for (const auto& entry : kTypes)
    if (entry.type == type) return entry.name;
  TORCH_CHECK(false, "no safetensors name for ", type);
}

at::ScalarType type_of(const std::string& name, const std::filesystem::path& path) {
  for (const auto& entry : kTypes)
    if (name == entry.name) return entry.type;
  throw damaged(path, "unknown type " + name);
}

// A list of whole numbers; nlohmann's get() would round fractions and wrap what is out of range.
template <typename T>
std::vector<T> whole_numbers(const nlohmann::json& list, const std::filesystem::path& path) {
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), [](const auto& x) { return x.is_number_integer(); }))
    throw damaged(path, "a header entry of the wrong form");
  return list.get<std::vector<T>>();
}

torch::Tensor read_tensor(const nlohmann::json& entry, std::span<const std::byte> data,
                          const std::filesystem::path& path, const std::string& name) {
  const auto type = type_of(entry.at("dtype").get<std::string>(), path);
  const auto shape = whole_numbers<int64_t>(entry.at("shape"), path);
  const auto offsets = whole_numbers<uint64_t>(entry.at("data_offsets"), path);
  uint64_t bytes = at::elementSize(type);
  // Of an empty tensor the other sizes must not overflow either: there zeros count as ones, up to a bound of their own.
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const uint64_t bound = empty ? uint64_t{1} << 40 : data.size();
  for (const int64_t n : shape) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(n, 1));
    if (n < 0 || bytes > bound / size) throw damaged(path, "shape of " + name);
    bytes *= size;
  }
  if (empty) bytes = 0;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() || offsets[1] - offsets[0] != bytes)
    throw damaged(path, "extent of " + name);
  auto tensor = torch::empty(shape, type);
  if (bytes > 0) std::memcpy(tensor.mutable_data_ptr(), data.data() + offsets[0], bytes);
  return tensor;
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t bytes = tensor.numel() * tensor.element_size();
    header[name] = {{"dtype", type_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts aligned
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(text);
  for (const auto& [name, tensor] : tensors) {
    const auto data = tensor.detach().cpu().contiguous();
    file.write({static_cast<const char*>(data.const_data_ptr()), data.numel() * data.element_size()});
  }
  file.commit();
}

SafetensorsFile load_safetensors(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  uint64_t length = 0;
  if (bytes.size() < sizeof length) throw damaged(path, "shorter than its header");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) throw damaged(path, "shorter than its header");
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  const auto header = nlohmann::json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) throw damaged(path, "its header is not JSON");
  const auto data = bytes.subspan(sizeof length + length);
  SafetensorsFile file;
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__")
        file.metadata = entry.get<std::map<std::string, std::string>>();
      else
        file.tensors[name] = read_tensor(entry, data, path, name);
    }
  } catch (const nlohmann::json::exception&) {
    throw damaged(path, "a header entry of the wrong form");
  }
  return file;
}

void copy_into(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, target] : targets) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) throw Error(fmt::format("{}: tensor {} is missing", path.string(), name));
    const auto& tensor = found->second;
    if (tensor.sizes() != target.sizes() || tensor.scalar_type() != target.scalar_type())
      throw Error(fmt::format("{}: tensor {} is {} [{}], the configuration needs {} [{}]", path.string(), name,
                              type_name(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
                              type_name(target.scalar_type()), fmt::join(target.sizes(), ", ")));
    target.detach().copy_(tensor);
  }
  if (file.tensors.size() == targets.size()) return;
  for (const auto& [name, tensor] : file.tensors) {
    const bool known =
        std::any_of(targets.begin(), targets.end(), [&](const auto& item) { return item.first == name; });
    if (!known) throw Error(fmt::format("{}: tensor {} belongs to no part of this model", path.string(), name));
  }
}

}  // namespace nmt
