#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "interop/array.h"

namespace nmt::interop {

/// The weights of a file on the disk, read one by one: memory holds only what is asked for.
class WeightFile {
 public:
  /// safetensors; or what torch.save() wrote, in the form of today (a zip archive) or that before PyTorch 1.6: by the
  /// file's first bytes. Throws Error for a damaged or foreign file, and for a pickle with code.
  explicit WeightFile(const std::filesystem::path& path);

  bool has(const std::string& name) const { return arrays_.contains(name); }
  const std::map<std::string, StoredArray>& arrays() const { return arrays_; }
  const std::string& path() const { return path_; }
  /// The first axis of a tensor; throws Error where it is missing.
  int64_t rows(const std::string& name) const;
  /// Throws Error for a tensor that is missing or has another shape.
  Array read(const std::string& name, const Shape& shape) const;

 private:
  std::string path_;
  std::shared_ptr<const MappedFile> mapped_;
  std::map<std::string, StoredArray> arrays_;
};

/// The tensors of a state dictionary as torch.save() wrote it. Throws Error.
std::map<std::string, StoredArray> read_torch_file(std::span<const std::byte> file, const std::string& name);

}  // namespace nmt::interop
