#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The file of a model directory that holds its adapter, where a training made one.
constexpr const char* kAdapterFile = "adapter.safetensors";

/// The low-rank update of a matrix [out, in] (Hu et al. 2022, eq. 3): W + scale B A.
struct LowRankUpdate {
  int64_t rank = 0, out = 0, in = 0;
  std::span<const float> a;  ///< [rank, in]
  std::span<const float> b;  ///< [out, rank]
};

/// Adds rows [begin, end) of an update to the same rows of its matrix [out, in]. Each number is one chain of sums over
/// the rank: the same bits on every machine and for every division into rows.
void add_update(std::span<float> matrix, const LowRankUpdate& update, float scale, int64_t begin, int64_t end);

/// An adapter: low-rank updates of some of a model's matrices, in a safetensors file. A matrix NAME.weight has the
/// factors NAME.lora_A.weight and NAME.lora_B.weight; the metadata say which model they are for.
struct Adapter {
  std::string base;  ///< SHA-256 of the base's model.safetensors
  float scale = 1;   ///< alpha / rank
  struct Factors {
    int64_t rank = 0, out = 0, in = 0;
    std::vector<float> a, b;
    LowRankUpdate update() const { return {rank, out, in, a, b}; }
  };
  std::map<std::string, Factors> factors;  ///< by the matrix's name
  std::string name;                        ///< shown in messages

  /// Adds the update of this matrix, if there is one. Throws Error for a matrix of another shape.
  void add_to(const std::string& matrix_name, std::span<const int64_t> shape, std::span<float> matrix) const;
};

/// Throws Error for a file that is missing, damaged or no adapter.
Adapter read_adapter(const std::filesystem::path& path);

/// Throws Error where an adapter is for other weights than those of the model directory.
void require_base(const Adapter& adapter, const std::filesystem::path& directory);

/// read_adapter() with require_base().
Adapter adapter_of(const std::filesystem::path& directory, const std::filesystem::path& path);

std::string factor_name(std::string_view matrix, std::string_view factor);  ///< factor: "lora_A" or "lora_B"
std::map<std::string, std::string> adapter_metadata(const std::string& base, int64_t rank, double alpha);

}  // namespace nmt
