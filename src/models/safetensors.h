#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nmt {

/// Tensors in the given order.
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Writes atomically. Throws MachineError.
void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

struct SafetensorsFile {
  std::map<std::string, torch::Tensor> tensors;  ///< on the CPU, owning their memory
  std::map<std::string, std::string> metadata;
};
/// Reads a whole file; every length, type, shape and offset of the header is checked against the file before anything
/// is allocated. Throws Error ("FILE: damaged: ...").
SafetensorsFile load_safetensors(const std::filesystem::path& path);

/// Copies tensors into those of the same names; names, shapes and types must agree exactly, else Error naming the
/// first.
void copy_into(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path);

}  // namespace nmt
