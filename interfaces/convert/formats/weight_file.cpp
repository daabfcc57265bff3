#include "convert/formats/weight_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <regex>
#include <utility>

#include "base/error.h"
#include "base/files/stored_weights.h"
#include "convert/formats/array.h"
#include "convert/formats/torch_file.h"

namespace nmt::convert {
namespace {

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = sizeof kMagic - 1, kLongestHeader = 4096;
constexpr size_t kMostAxes = 8;

Error damaged(const std::string& name, const char* what) {
  return Error(fmt::format("{}: damaged: {}; fetch the file again", name, what));
}

struct ElementType {
  const char *numpy, *name;
  int64_t size;
};
constexpr ElementType kTypes[] = {{"<f4", "F32", 4}, {"<f2", "F16", 2}, {"<f8", "F64", 8}, {"|i1", "I8", 1},
                                  {"<i1", "I8", 1},  {"|u1", "U8", 1},  {"<u1", "U8", 1}};

/// The dictionary that describes an array, as text, and the bytes after it.
std::pair<std::string, std::span<const std::byte>> split_header(std::span<const std::byte> bytes,
                                                                const std::string& name) {
  const bool is_npy = bytes.size() > kMagicSize + 2 && std::memcmp(bytes.data(), kMagic, kMagicSize) == 0;
  if (!is_npy) throw damaged(name, "not an array of NumPy");
  const auto version = static_cast<uint8_t>(bytes[kMagicSize]);
  const size_t width = version == 1 ? 2 : 4, from = kMagicSize + 2 + width;
  uint32_t length = 0;
  if (bytes.size() < from) throw damaged(name, "it ends too early");
  std::memcpy(&length, bytes.data() + kMagicSize + 2, width);  // little-endian
  if (length > kLongestHeader || length > bytes.size() - from) throw damaged(name, "the header of an array");
  return {{reinterpret_cast<const char*>(bytes.data()) + from, length}, bytes.subspan(from + length)};
}

Shape parse_shape(const std::string& text, const std::string& name) {
  Shape shape;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || shape.size() == kMostAxes) throw damaged(name, "the shape of an array");
    shape.push_back(size);
    at = next;
  }
  if (!is_countable(shape)) throw damaged(name, "the shape of an array");
  return shape;
}

/// The bytes that an array of this shape has; Error where they are more than there are.
size_t checked_size(const Shape& shape, int64_t element, size_t room, const std::string& name) {
  auto bytes = static_cast<uint64_t>(element);
  for (const int64_t n : shape) {
    if (n > 0 && bytes > room / static_cast<uint64_t>(n)) throw damaged(name, "an array is shorter than its shape");
    bytes *= static_cast<uint64_t>(n);
  }
  return bytes;
}

Shape column_major(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  return strides;
}

}  // namespace

StoredArray read_npy(std::span<const std::byte> bytes, const std::string& name) {
  const auto [header, data] = split_header(bytes, name);
  static const std::regex kType(R"('descr': *'([^']*)')"), kOrder(R"('fortran_order': *(True|False))"),
      kShape(R"('shape': *\(([0-9, ]*)\))");
  std::smatch type, order, shape;
  if (!std::regex_search(header, type, kType) || !std::regex_search(header, order, kOrder) ||
      !std::regex_search(header, shape, kShape))
    throw damaged(name, "the header of an array");
  if (type[1].str().find('O') != std::string::npos)
    throw Error(name + ": holds Python objects, which can be code and are no weights; it is not used");
  StoredArray array{.type = type[1], .shape = parse_shape(shape[1], name), .data = data};
  if (order[1] == "True") array.strides = column_major(array.shape);
  for (const auto& known : kTypes)
    if (array.type == known.numpy) {
      array.type = known.name;
      if (checked_size(array.shape, known.size, data.size(), name) != data.size())
        throw damaged(name, "an array is longer than its shape");
    }
  return array;
}

std::map<std::string, StoredArray> read_npz(const ZipMembers& members, const std::string& name) {
  std::map<std::string, StoredArray> arrays;
  for (const auto& [member, data] : members) {
    const auto key = member.ends_with(".npy") ? member.substr(0, member.size() - 4) : member;
    arrays[key] = read_npy(as_bytes(data), fmt::format("{}: {}", name, key));
  }
  return arrays;
}

WeightFile::WeightFile(const std::filesystem::path& path)
    : path_(path.string()),
      mapped_(std::make_shared<MappedFile>(path)),
      file_size_(mapped_->bytes().size()),
      members_(std::make_shared<ZipMembers>()) {
  if (path.extension() == ".safetensors") {
    for (auto& entry : read_safetensors_index(mapped_->bytes(), path_).tensors)
      arrays_[entry.name] = {.type = entry.type, .shape = entry.shape, .data = entry.data};
  } else if (path.extension() == ".npz") {
    *members_ = read_zip(mapped_->bytes(), path_);
    arrays_ = read_npz(*members_, path_);
  } else {
    arrays_ = read_torch_file(mapped_->bytes(), path_, *members_);
  }
  if (!members_->empty()) mapped_.reset();  // all of it is unpacked
}

const StoredArray& WeightFile::stored(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw Error(fmt::format("{}: tensor {} is missing", path_, name));
  return found->second;
}

std::string WeightFile::first_of(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (has(name)) return name;
  throw Error(fmt::format("{}: tensor {} is missing", path_, *names.begin()));
}

int64_t WeightFile::rows(const std::string& name) const {
  const auto& shape = stored(name).shape;
  return shape.empty() ? 0 : shape[0];
}

void WeightFile::check(const std::string& name, const Shape& shape) const {
  const auto& found = stored(name).shape;
  const bool is_row = shape.size() == 1 && found == Shape{1, shape[0]};
  if (found != shape && !is_row)
    throw Error(fmt::format("{}: tensor {} is {}, the model's configuration asks for {}", path_, name, to_text(found),
                            to_text(shape)));
}

void WeightFile::refuse_others(const std::set<std::string>& known) const {
  for (const auto& [name, array] : arrays_)
    if (!known.contains(name))
      throw Error(fmt::format(
          "{}: tensor {} belongs to no part that this toolkit's Transformer has with these settings", path_, name));
}

Array WeightFile::read(const std::string& name, const Shape& shape) {
  throw_if_stopped();
  check(name, shape);
  const auto& array = stored(name);
  // Tables that belong together may stand in the file once; more sharing only serves to fill the memory.
  bytes_read_ += stored_size(array);
  if (bytes_read_ / 2 > file_size_)
    throw Error(path_ + ": damaged: too many of its tensors are one and the same; fetch the file again");
  Array result = to_array(array, path_, name);
  result.shape = shape;
  return result;
}

void WeightFile::transpose(const std::string& name) {
  const auto found = arrays_.find(name);
  if (found == arrays_.end() || found->second.shape.size() != 2) return;
  auto& [type, shape, strides, data] = found->second;
  if (strides.empty()) strides = {shape[1], 1};
  std::swap(shape[0], shape[1]);
  std::swap(strides[0], strides[1]);
}

}  // namespace nmt::convert
