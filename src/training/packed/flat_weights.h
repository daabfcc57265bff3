#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "models/interface/safetensors.h"

namespace nmt {

/// The parameters of a model, side by side in one array, and their gradients, and their copy in the type of
/// activations. From here on the parameters are parts of the array, and so are their gradients: what is read from them,
/// written to them, or added to their gradients by autograd, goes to the same memory.
class FlatWeights {
 public:
  /// type: of the copy. Parameters are float32, all on one device. Matrices come first, then vectors; those of the keys
  /// and values of attention to the source, "decoder_I.cross_attention.{key,value}", stand together, so that one
  /// product makes those of all blocks. Each begins at a multiple of 16 numbers, and the output layer ("output_bias",
  /// and the table `output`) has its rows filled up to one, with zeros.
  FlatWeights(const NamedTensors& parameters, const std::string& output, at::ScalarType type);

  /// The parts of the arrays that begin with the parameter `first`, [rows, columns] or, without columns, [rows]: one
  /// parameter, or several that stand next to each other.
  torch::Tensor copy(const std::string& first, int64_t rows, int64_t columns = 0) const;
  torch::Tensor weight(const std::string& first, int64_t rows, int64_t columns = 0) const;
  torch::Tensor gradient(const std::string& first, int64_t rows, int64_t columns = 0) const;

  bool has(const std::string& name) const { return places_.contains(name); }
  int64_t rows_of(const std::string& name) const { return rows_.at(name); }  ///< of the parameter itself
  /// Where a vector begins, counted from the first of all vectors.
  int64_t place_of_vector(const std::string& name) const { return places_.at(name) - first_vector_; }
  /// An array of the same size with float32 zeros, and the part of it that belongs to a parameter.
  torch::Tensor zeros() const { return torch::zeros_like(weights_); }
  torch::Tensor part_of(const torch::Tensor& array, const std::string& name, at::IntArrayRef sizes) const;

  const torch::Tensor& weights() const { return weights_; }      ///< float32 [all]
  const torch::Tensor& gradients() const { return gradients_; }  ///< the same
  const torch::Tensor& copies() const { return copies_; }        ///< [all] in the type of activations
  torch::Tensor vector_gradients() const {
    return gradients_.narrow(0, first_vector_, gradients_.size(0) - first_vector_);
  }
  /// Sets the copy where weights were changed by others than the kernel of Adam.
  void copy_weights() const;

 private:
  std::map<std::string, int64_t> places_, rows_;
  int64_t first_vector_ = 0;
  torch::Tensor weights_, gradients_, copies_;
};

/// The next multiple of 16.
constexpr int64_t in_sixteens(int64_t n) { return (n + 15) / 16 * 16; }

}  // namespace nmt
