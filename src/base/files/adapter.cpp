#include "base/files/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/stored_weights.h"

namespace nmt {
namespace {

constexpr std::string_view kWeight = ".weight", kA = "lora_A", kB = "lora_B";
constexpr const char *kBase = "base_sha256", *kRank = "lora_rank", *kAlpha = "lora_alpha";

std::string tail_of(std::string_view factor) { return fmt::format(".{}{}", factor, kWeight); }

[[noreturn]] void damaged(const std::string& file, const std::string& what) {
  throw Error(fmt::format("{}: damaged: {}; copy it again", file, what));
}

std::vector<float> floats_of(const SafetensorsEntry& entry, const std::string& file) {
  if (entry.type != "F32" || entry.shape.size() != 2)
    damaged(file, fmt::format("tensor {} is no matrix of F32", entry.name));
  std::vector<float> values(entry.data.size() / sizeof(float));
  std::memcpy(values.data(), entry.data.data(), entry.data.size());
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    damaged(file, fmt::format("tensor {} has numbers that are not finite", entry.name));
  return values;
}

double number_in(const std::map<std::string, std::string>& metadata, const char* key, const std::string& file) {
  const auto& text = metadata.at(key);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number <= 0)
    damaged(file, fmt::format("{} is '{}'", key, text));
  return number;
}

}  // namespace

void add_update(std::span<float> matrix, const LowRankUpdate& update, float scale, int64_t begin, int64_t end) {
  std::vector<float> sums(update.in);
  for (int64_t row = begin; row < end; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int64_t k = 0; k < update.rank; ++k) {
      const float factor = update.b[row * update.rank + k];
      const float* a = update.a.data() + k * update.in;
      for (int64_t i = 0; i < update.in; ++i) sums[i] += factor * a[i];
    }
    float* to = matrix.data() + row * update.in;
    for (int64_t i = 0; i < update.in; ++i) to[i] += scale * sums[i];
  }
}

void Adapter::add_to(const std::string& matrix_name, std::span<const int64_t> shape, std::span<float> matrix) const {
  const auto found = factors.find(matrix_name);
  if (found == factors.end()) return;
  const auto update = found->second.update();
  if (shape.size() != 2 || shape[0] != update.out || shape[1] != update.in)
    throw Error(
        fmt::format("{}: {} has another shape in the model; name the adapter of this model", name, matrix_name));
  add_update(matrix, update, scale, 0, update.out);
}

std::string factor_name(std::string_view matrix, std::string_view factor) {
  return fmt::format("{}{}", matrix.substr(0, matrix.size() - kWeight.size()), tail_of(factor));
}

std::map<std::string, std::string> adapter_metadata(const std::string& base, int64_t rank, double alpha) {
  return {{kBase, base}, {kRank, std::to_string(rank)}, {kAlpha, fmt::format("{}", alpha)}};
}

Adapter read_adapter(const std::filesystem::path& path) {
  const auto file = path.string();
  const auto bytes = read_file(path);
  const auto index = read_safetensors_index(std::as_bytes(std::span(bytes)), file);
  for (const char* key : {kBase, kRank, kAlpha})
    if (!index.metadata.contains(key))
      throw Error(fmt::format("{}: is no adapter: {} is missing; name the {} of a training with training.lora_rank",
                              file, key, kAdapterFile));
  const double rank = number_in(index.metadata, kRank, file);
  Adapter adapter{.base = index.metadata.at(kBase),
                  .scale = static_cast<float>(number_in(index.metadata, kAlpha, file) / rank),
                  .factors = {},
                  .name = file};
  for (const auto& entry : index.tensors) {
    const std::string_view name = entry.name;
    const bool is_a = name.ends_with(tail_of(kA)), is_b = name.ends_with(tail_of(kB));
    if (!is_a && !is_b) damaged(file, fmt::format("tensor {} is no factor of an update", name));
    auto& factors = adapter.factors[fmt::format("{}{}", name.substr(0, name.size() - tail_of(kA).size()), kWeight)];
    (is_a ? factors.a : factors.b) = floats_of(entry, file);
    (is_a ? factors.in : factors.out) = entry.shape[is_a ? 1 : 0];
    factors.rank = entry.shape[is_a ? 0 : 1];
    if (static_cast<double>(factors.rank) != rank)
      damaged(file, fmt::format("tensor {} is not of rank {}", name, rank));
  }
  for (const auto& [name, factors] : adapter.factors)
    if (factors.a.empty() || factors.b.empty()) damaged(file, fmt::format("a factor of {} is missing", name));
  return adapter;
}

void require_base(const Adapter& adapter, const std::filesystem::path& directory) {
  const auto weights = directory / "model.safetensors";
  const auto found = sha256_of_file(weights);
  if (found == adapter.base) return;
  throw Error(
      fmt::format("{}: is for a model whose weights have the SHA-256 {}, those of {} have {}; name the model "
                  "that it was trained from (for int8, nmt-export --adapter joins both before it quantizes)",
                  adapter.name, adapter.base, weights.string(), found));
}

Adapter adapter_of(const std::filesystem::path& directory, const std::filesystem::path& path) {
  auto adapter = read_adapter(path);
  require_base(adapter, directory);
  return adapter;
}

}  // namespace nmt
