#include "models/interface/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/stored_weights.h"

namespace nmt {
namespace {

struct TypeName {
  const char* name;
  at::ScalarType type;
};
constexpr TypeName kTypes[] = {{"F32", torch::kFloat32}, {"BF16", torch::kBFloat16}, {"F16", torch::kFloat16},
                               {"F64", torch::kFloat64}, {"I64", torch::kInt64},     {"I32", torch::kInt32},
                               {"I8", torch::kInt8},     {"U8", torch::kUInt8}};

const char* type_name(at::ScalarType type) {
  for (const auto& entry : kTypes)
    if (entry.type == type) return entry.name;
  TORCH_CHECK(false, "no safetensors name for ", type);
}

at::ScalarType type_of(const std::string& name) {
  for (const auto& entry : kTypes)
    if (name == entry.name) return entry.type;
  TORCH_CHECK(false, "no torch type for ", name);
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, tensor] : tensors)
    entries.push_back(
        {.name = name, .type = type_name(tensor.scalar_type()), .shape = tensor.sizes().vec(), .data = {}});
  AtomicFile file(path);
  file.write(safetensors_header(entries, metadata));
  for (const auto& [name, tensor] : tensors) {
    const auto data = tensor.detach().cpu().contiguous();
    file.write({static_cast<const char*>(data.const_data_ptr()), data.nbytes()});
  }
  file.commit();
}

SafetensorsFile load_safetensors(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  auto index = read_safetensors_index(mapped.bytes(), path.string());
  SafetensorsFile file{.tensors = {}, .metadata = std::move(index.metadata)};
  for (const auto& entry : index.tensors) {
    auto tensor = torch::empty(entry.shape, type_of(entry.type));
    if (!entry.data.empty()) std::memcpy(tensor.mutable_data_ptr(), entry.data.data(), entry.data.size());
    file.tensors[entry.name] = std::move(tensor);
  }
  return file;
}

MappedSafetensors map_safetensors(const std::filesystem::path& path, MapOptions options) {
  const auto mapping = std::make_shared<const MappedFile>(path, MappedFile::Access::kCopyOnWrite);
  const auto guard =
      options == MapOptions::kGuarded ? std::make_shared<const MappedFileGuard>(*mapping, path) : nullptr;
  auto index = read_safetensors_index(mapping->bytes(), path.string());
  SafetensorsFile file{.tensors = {}, .metadata = std::move(index.metadata)};
  for (const auto& entry : index.tensors) {
    const auto type = type_of(entry.type);
    const bool aligned = reinterpret_cast<uintptr_t>(entry.data.data()) % at::elementSize(type) == 0;
    auto* data = const_cast<std::byte*>(entry.data.data());
    auto tensor = entry.data.empty() ? torch::empty(entry.shape, type)
                                     : torch::from_blob(
                                           data, entry.shape, [mapping](void*) {}, type);
    file.tensors[entry.name] = aligned ? tensor : tensor.clone();  // another program's file may be anywhere
  }
  return {.file = std::move(file), .mapping = mapping, .guard = guard};
}

namespace {

// Calls action(target, tensor) for the pairs of the same name.
template <typename Action>
void for_each_pair(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path,
                   bool any_type, Action&& action) {
  for (const auto& [name, target] : targets) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) throw Error(fmt::format("{}: tensor {} is missing", path.string(), name));
    const auto& tensor = found->second;
    if (tensor.sizes() != target.sizes() || (!any_type && tensor.scalar_type() != target.scalar_type()))
      throw Error(fmt::format("{}: tensor {} is {} [{}], the configuration needs {} [{}]", path.string(), name,
                              type_name(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
                              type_name(target.scalar_type()), fmt::join(target.sizes(), ", ")));
    action(target, tensor);
  }
  if (file.tensors.size() == targets.size()) return;
  for (const auto& [name, tensor] : file.tensors) {
    const bool known =
        std::any_of(targets.begin(), targets.end(), [&](const auto& item) { return item.first == name; });
    if (!known) throw Error(fmt::format("{}: tensor {} belongs to no part of this model", path.string(), name));
  }
}

}  // namespace

void copy_into(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path) {
  for_each_pair(targets, file, path, false, [](const torch::Tensor& target, const torch::Tensor& tensor) {
    const torch::NoGradGuard no_grad;
    target.detach().copy_(tensor);
  });
}

void share_with(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path) {
  for_each_pair(targets, file, path, false,
                [](const torch::Tensor& target, const torch::Tensor& tensor) { target.set_data(tensor); });
}

void replace_with(const NamedTensors& targets, const SafetensorsFile& file, const std::filesystem::path& path) {
  for_each_pair(targets, file, path, true, [](const torch::Tensor& target, const torch::Tensor& tensor) {
    target.set_requires_grad(false);
    target.set_data(tensor);
  });
}

}  // namespace nmt
