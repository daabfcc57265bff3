#include "convert/formats/weight_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files/safetensors_index.h"
#include "convert/formats/npz.h"
#include "convert/formats/stop.h"
#include "convert/formats/torch_file.h"

namespace nmt::convert {

WeightFile::WeightFile(const std::filesystem::path& path)
    : path_(path.string()),
      mapped_(std::make_shared<MappedFile>(path)),
      unpacked_(std::make_shared<std::deque<std::vector<std::byte>>>()) {
  if (path.extension() == ".safetensors") {
    for (auto& entry : read_safetensors_index(mapped_->bytes(), path_).tensors)
      arrays_[entry.name] = {.type = entry.type, .shape = entry.shape, .data = entry.data};
  } else if (path.extension() == ".npz") {
    arrays_ = read_npz(mapped_->bytes(), path_, *unpacked_);
  } else {
    arrays_ = read_torch_file(mapped_->bytes(), path_);
  }
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
  if (bytes_read_ / 2 > mapped_->bytes().size())
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
