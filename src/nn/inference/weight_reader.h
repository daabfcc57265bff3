#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/adapter.h"
#include "base/files/mapped_file.h"
#include "base/files/stored_weights.h"
#include "base/threads.h"
#include "nn/inference/weights.h"

namespace nmt::inference {

/// A matrix [out, in] of a file, and the bias [out] that goes with it.
struct MapTensors {
  std::string weight;
  std::string bias = {};  ///< none: no bias
  int64_t out = 0, in = 0;
};

/// The file of a model directory, while a model is made of it: each tensor is asked for by name and shape. What is
/// wrong with one throws Error ("FILE: tensor NAME ..."). Models of one file, with adapters or without, share the
/// packed matrices that no adapter changes, as long as one of them is in memory.
class WeightReader {
 public:
  /// Weights are packed in `format`, which is that of `stored` unless that is float32. threads: that help; none: the
  /// caller does all. Throws Error for a damaged file.
  WeightReader(const std::filesystem::path& path, WeightType stored, kernels::WeightFormat format, ThreadPool* threads);

  /// Adds an adapter's updates to the matrices that are packed from here on.
  void add(Adapter adapter) { adapter_ = std::move(adapter); }

  kernels::WeightFormat format() const { return format_; }
  /// Several maps of one `in`, side by side. Throws Unsupported where int8 does not take so many columns.
  Map pack(std::initializer_list<MapTensors> parts);
  /// A float32 tensor, copied.
  const float* copy(const std::string& name, const std::vector<int64_t>& shape);
  /// A float32 tensor where it lies in the file.
  const float* map(const std::string& name, const std::vector<int64_t>& shape);
  /// To be called when all is made: what copy() and map() gave, which lives as long as this. Throws Error for a tensor
  /// that nobody asked for, and for a quantized directory's file that has changed meanwhile; it is let go.
  std::shared_ptr<const void> finish();

 private:
  struct Kept {
    std::shared_ptr<const MappedFile> file;
    std::deque<std::vector<float>> copies;
  };
  const StoredWeight& find(const std::string& name, const std::vector<int64_t>& shape);
  const StoredWeight& find_float(const std::string& name, const std::vector<int64_t>& shape);
  Map packed(std::span<const MapTensors> parts);

  std::string name_, file_;  // what messages say, and which file that is
  WeightType stored_;
  kernels::WeightFormat format_;
  ThreadPool* threads_;
  std::shared_ptr<Kept> kept_;
  size_t read_bytes_ = 0;                 // of the file, since its pages were given back
  std::optional<MappedFileGuard> guard_;  // of a quantized directory
  std::optional<Adapter> adapter_;
  std::map<std::string, StoredWeight> weights_;
  std::set<std::string> used_;
};

}  // namespace nmt::inference
