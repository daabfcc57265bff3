#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"

namespace nmt {

/// Tensors in the given order.
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Writes atomically. Throws MachineError.
void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

struct SafetensorsFile {
  std::map<std::string, torch::Tensor> tensors;  ///< on the CPU
  std::map<std::string, std::string> metadata;
};
/// Reads a whole file; every length, type, shape and offset of the header is checked against the file before anything
/// is allocated. Throws Error ("FILE: damaged: ...").
SafetensorsFile load_safetensors(const std::filesystem::path& path);

/// The same without reading: tensors lie in the mapped file and keep it mapped; what is written to them is not.
struct MappedSafetensors {
  SafetensorsFile file;
  std::shared_ptr<const MappedFile> mapping;
  std::shared_ptr<const MappedFileGuard> guard = nullptr;
};
enum class MapOptions { kPlain, kGuarded };
MappedSafetensors map_safetensors(const std::filesystem::path& path, MapOptions options = MapOptions::kPlain);

/// Copies tensors into those of the same names; names, shapes and types must agree exactly, else Error naming the
/// first.
void copy_into(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path);
/// The same without copying: targets share the memory of the file's tensors from then on.
void share_with(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path);
/// Replaces targets as share_with() does; tensors may have any type, and targets need no gradient from then on.
void replace_with(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path);

}  // namespace nmt
