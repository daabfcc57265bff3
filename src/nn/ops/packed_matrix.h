#pragma once

#include <torch/types.h>

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/files/mapped_file.h"
#include "nn/inference/weights.h"
#include "nn/kernels/products.h"
#include "nn/ops/activation.h"

namespace nmt {

/// One map x weightᵀ + bias: weight float [out, in], bias float [out] or undefined. For PackedMatrix a weight may be
/// int8 or bfloat16, too: as a quantized model directory has it.
struct AffineMap {
  torch::Tensor weight, bias;
};

/// What a unit of each row of int8 weights is worth, float32 [out], by the address of the weights.
using WeightScales = std::map<const void*, torch::Tensor>;

/// How weights are packed.
struct Packing {
  kernels::WeightFormat format = kernels::WeightFormat::kFloat32;  ///< that of weights that are not float32
  /// Where the weights lie unchanged, or null: its memory is given back once they are packed.
  std::shared_ptr<const MappedFile> origin = nullptr;
  std::shared_ptr<const WeightScales> scales = nullptr;  ///< of all weights that are int8; null: there are none
};

/// A module that multiplies by packed weights while decoding on the CPU.
class KeepsPackedWeights {
 public:
  virtual void set_packing(const Packing& packing) = 0;

 protected:
  ~KeepsPackedWeights() = default;
};

/// Matrices packed for decoding on the CPU at their first use, and again when one has changed. Thread-safe.
class PackedMatrix {
 public:
  /// From the next product on. Not while another thread multiplies.
  void set_packing(const Packing& packing) { packing_ = packing; }
  const Packing& packing() const { return packing_; }

  /// x float32 [..., in] through one map, or several side by side: [..., out of all of them]. A row's result does not
  /// depend on the number of rows: a sentence is translated the same alone and in a batch.
  torch::Tensor multiply(const torch::Tensor& x, std::initializer_list<AffineMap> maps, const Epilogue& epilogue = {});

  /// Rows of a map's weight as products see them: ids int64 [...] -> float32 [..., in]. Throws c10::IndexError.
  torch::Tensor look_up(const AffineMap& map, const torch::Tensor& ids);

  /// The packed weights of one map, or of several side by side, for code that knows no tensor.
  inference::Map map(std::initializer_list<AffineMap> maps);

  class Packed;  ///< weights as they are multiplied by
  /// Some outputs of a map, in this order, copied from its packed weights: column i of a product with them is column
  /// outputs[i] of multiply(), bit for bit. Columns up to a multiple of kernels::kPanel follow, which mean nothing.
  std::shared_ptr<const Packed> gather(const AffineMap& map, std::span<const int32_t> outputs);
  static torch::Tensor multiply(const torch::Tensor& x, const Packed& packed, const Epilogue& epilogue = {});

 private:
  const Packed& packed(std::initializer_list<AffineMap> maps);

  Packing packing_;
  std::mutex mutex_;
  std::shared_ptr<const Packed> owned_;
  std::atomic<const Packed*> current_ = nullptr;
};

}  // namespace nmt
