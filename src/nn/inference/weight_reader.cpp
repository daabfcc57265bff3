#include "nn/inference/weight_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

#include "base/error.h"
#include "nn/inference/operations.h"

namespace nmt::inference {
namespace {

/// Numbers of 4 bytes each, uninitialised.
std::shared_ptr<void> allocate(size_t bytes) {
  constexpr auto kAlignment = std::align_val_t{64};
  std::shared_ptr<void> memory(::operator new(bytes, kAlignment),
                               [](void* own) { ::operator delete(own, kAlignment); });
  use_huge_pages(memory.get(), bytes);
  return memory;
}

/// The packed matrices that models have in common.
class SharedMaps {
 public:
  /// The one of this key, or else what `make` gives.
  template <typename Make>
  Map get(const std::string& key, Make&& make) {
    if (auto map = find(key)) return std::move(*map);
    auto map = make();
    const std::lock_guard lock(mutex_);
    std::erase_if(maps_, [](const auto& entry) { return entry.second.owner.expired(); });
    maps_[key] = {map.weight, map.bias, map.owner};
    return map;
  }

 private:
  struct Entry {
    kernels::PackedWeight weight;
    const float* bias;
    std::weak_ptr<const void> owner;
  };
  std::optional<Map> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = maps_.find(key);
    if (found == maps_.end()) return {};
    auto owner = found->second.owner.lock();
    if (!owner) return {};
    return Map{.weight = found->second.weight, .bias = found->second.bias, .owner = std::move(owner)};
  }

  std::mutex mutex_;
  std::map<std::string, Entry> maps_;
};

/// Which file has this name now: another once it is replaced or written to.
std::string identity_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return "";
  return fmt::format("{} {} {} {} {}", status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

SharedMaps& shared_maps() {
  static SharedMaps maps;
  return maps;
}

bool is_aligned(const std::byte* data) { return reinterpret_cast<uintptr_t>(data) % alignof(float) == 0; }

}  // namespace

WeightReader::WeightReader(const std::filesystem::path& path, WeightType stored, kernels::WeightFormat format,
                           ThreadPool* threads)
    : name_(path.string()), stored_(stored), format_(format), threads_(threads), kept_(std::make_shared<Kept>()) {
  file_ = identity_of(path);
  kept_->file = std::make_shared<const MappedFile>(path);
  if (identity_of(path) != file_) file_.clear();  // replaced meanwhile: nobody knows which one it is
  if (stored != WeightType::kFloat32) guard_.emplace(*kept_->file, path);
  weights_ = stored_weights(read_safetensors_index(kept_->file->bytes(), name_), stored, name_);
}

const StoredWeight& WeightReader::find(const std::string& name, const std::vector<int64_t>& shape) {
  const auto found = weights_.find(name);
  if (found == weights_.end()) throw Error(fmt::format("{}: tensor {} is missing", name_, name));
  const auto& values = found->second.values;
  if (values.shape != shape)
    throw Error(fmt::format("{}: tensor {} is {} [{}], the configuration needs [{}]", name_, name, values.type,
                            fmt::join(values.shape, ", "), fmt::join(shape, ", ")));
  used_.insert(name);
  return found->second;
}

const StoredWeight& WeightReader::find_float(const std::string& name, const std::vector<int64_t>& shape) {
  const auto& found = find(name, shape);
  if (found.values.type != "F32")
    throw Error(fmt::format("{}: tensor {} is {}, the model needs it in float32; export the model again", name_, name,
                            found.values.type));
  return found;
}

Map WeightReader::pack(std::initializer_list<MapTensors> parts) {
  auto key = fmt::format("{}\n{}", file_, static_cast<int>(format_));
  bool is_changed = false;
  for (const auto& [weight, bias, out, in] : parts) {
    is_changed = is_changed || (adapter_ && adapter_->factors.contains(weight));
    find(weight, {out, in});
    if (!bias.empty()) find_float(bias, {out});
    key += fmt::format("\n{}\n{}", weight, bias);
  }
  return is_changed || file_.empty() ? packed(parts) : shared_maps().get(key, [&] { return packed(parts); });
}

Map WeightReader::packed(std::span<const MapTensors> parts) {
  const int64_t in = parts.front().in;
  const bool int8 = format_ == kernels::WeightFormat::kInt8;
  if (int8 && in > kernels::kMaxInt8In) throw Unsupported("more columns than int8 takes");
  int64_t out = 0;
  std::vector<const StoredWeight*> weights;
  std::vector<std::span<const std::byte>> values;  // of each part, with the adapter's update
  std::deque<std::vector<float>> sums;
  std::vector<float> biases;
  for (const auto& part : parts) {
    out += part.out;
    weights.push_back(&find(part.weight, {part.out, in}));
    values.push_back(weights.back()->values.data);
    if (adapter_ && adapter_->factors.contains(part.weight)) {
      auto& sum = sums.emplace_back(weights.back()->to_floats());
      adapter_->add_to(part.weight, weights.back()->values.shape, sum);
      values.back() = std::as_bytes(std::span(sum));
    }
    if (part.bias.empty()) continue;
    const auto bias = find_float(part.bias, {part.out}).to_floats();
    biases.insert(biases.end(), bias.begin(), bias.end());
  }
  // The rows of all parts one after the other, where the file has them so or copied.
  const auto& type = weights.front()->values.type;
  const std::byte* rows = values.front().data();
  std::vector<std::byte> joined;
  std::vector<float> scales;
  const bool joins = parts.size() > 1 || !is_aligned(rows);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (joins) joined.insert(joined.end(), values[i].begin(), values[i].end());
    scales.insert(scales.end(), weights[i]->scales.begin(), weights[i]->scales.end());
  }
  if (!joined.empty()) rows = joined.data();

  const int64_t panels = kernels::panel_count(out), padded = panels * kernels::kPanel;
  const int64_t words = padded * kernels::words_in_row(format_, in);
  const auto memory = allocate(sizeof(float) * (words + (int8 ? 2 * padded : 0) + biases.size()));
  auto* at = static_cast<std::byte*>(memory.get());
  const auto take = [&]<typename T>(int64_t count, T*& to) {
    to = reinterpret_cast<T*>(at);
    at += count * sizeof(T);
  };
  Map map{.weight = {.format = format_, .out = out, .in = in}, .owner = memory};
  take(words, map.weight.panels);
  if (int8) {
    take(padded, map.weight.scales);
    take(padded, map.weight.sums);
  }
  if (!biases.empty()) {
    float* bias = nullptr;
    take(std::ssize(biases), bias);
    std::ranges::copy(biases, bias);
    map.bias = bias;
  }
  share(threads_, panels, 1, [&](int64_t begin, int64_t end) noexcept {
    if (type == "F32")
      kernels::packed_kernels().pack(reinterpret_cast<const float*>(rows), map.weight, {begin, end});
    else
      kernels::pack_quantized(rows, scales.data(), map.weight, {begin, end});
  });
  constexpr size_t kReadAtMost = size_t{8} << 20;  // each time costs as much as packing some matrices
  for (const auto* weight : weights) read_bytes_ += weight->values.data.size();
  if (read_bytes_ >= kReadAtMost) {
    kept_->file->release_pages();
    read_bytes_ = 0;
  }
  return map;
}

const float* WeightReader::copy(const std::string& name, const std::vector<int64_t>& shape) {
  return kept_->copies.emplace_back(find_float(name, shape).to_floats()).data();
}

const float* WeightReader::map(const std::string& name, const std::vector<int64_t>& shape) {
  const auto* data = find_float(name, shape).values.data.data();
  return is_aligned(data) ? reinterpret_cast<const float*>(data) : copy(name, shape);
}

std::shared_ptr<const void> WeightReader::finish() {
  for (const auto& [name, weight] : weights_)
    if (!used_.contains(name)) throw Error(fmt::format("{}: tensor {} belongs to no part of this model", name_, name));
  if (guard_) guard_->check();
  guard_.reset();
  kept_->file->release_pages();
  if (stored_ != WeightType::kFloat32) kept_->file.reset();
  return kept_;
}

}  // namespace nmt::inference
