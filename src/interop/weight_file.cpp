#include "interop/weight_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/safetensors_index.h"

namespace nmt::interop {

WeightFile::WeightFile(const std::filesystem::path& path)
    : path_(path.string()), mapped_(std::make_shared<MappedFile>(path)) {
  if (path.extension() != ".safetensors") {
    arrays_ = read_torch_file(mapped_->bytes(), path_);
    return;
  }
  for (auto& entry : read_safetensors_index(mapped_->bytes(), path_).tensors)
    arrays_[entry.name] = {.type = entry.type, .shape = entry.shape, .data = entry.data};
}

int64_t WeightFile::rows(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw Error(fmt::format("{}: tensor {} is missing", path_, name));
  return found->second.shape.empty() ? 0 : found->second.shape[0];
}

Array WeightFile::read(const std::string& name, const Shape& shape) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw Error(fmt::format("{}: tensor {} is missing", path_, name));
  if (found->second.shape != shape)
    throw Error(fmt::format("{}: tensor {} is {}, config.json asks for {}", path_, name, to_text(found->second.shape),
                            to_text(shape)));
  return to_array(found->second, path_, name);
}

}  // namespace nmt::interop
