#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace nmt {

/// A matrix or table of weights to be filled, float32; of no memory while a ParameterLimit lives. Throws
/// ParameterLimit::Exceeded, before any memory is taken.
torch::Tensor empty_parameter(at::IntArrayRef sizes);

/// While it lives, the parameters that this thread makes by empty_parameter() may have `elements` elements together:
/// who builds a network for weights that exist knows how many there are, and a wrong description asks for no memory.
/// These parameters have sizes and no memory of their own: the weights that exist are put in their place.
class ParameterLimit {
 public:
  struct Exceeded {};

  explicit ParameterLimit(int64_t elements);
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
};

/// What the elements of a matrix are drawn from before training.
struct InitialDistribution {
  enum class Kind {
    kXavierUniform,  ///< uniform within sqrt(6 / (rows + columns)) (Glorot and Bengio 2010, eq. 16)
    kNormal,         ///< of mean 0
    kUniform,        ///< within limit
    kFanIn,          ///< uniform within 1 / sqrt(columns): PyTorch's nn.Linear, Kaiming-uniform with a = sqrt(5)
    kOrthogonal,     ///< square orthogonal blocks one below the other, such as a cell's gates (Saxe et al. 2014)
  };
  Kind kind = Kind::kXavierUniform;
  double deviation = 0;            ///< kNormal
  double limit = 0;                ///< kUniform
  std::vector<double> gains = {};  ///< the drawn values are multiplied by these, one after the other

  /// Sets all of `matrix` [rows, columns], float32 on any device; kOrthogonal: rows a multiple of columns.
  void draw(torch::Tensor matrix, at::Generator& generator) const;
};

/// What a model's configuration says of initial weights, for modules to draw from.
struct InitialValues {
  InitialDistribution matrices;                    ///< what nothing below is said of
  InitialDistribution embeddings;                  ///< tables of tokens
  InitialDistribution positions;                   ///< tables of positions
  InitialDistribution recurrent;                   ///< matrices from state to state
  InitialDistribution scores;                      ///< matrices of score functions
  InitialDistribution score_vectors;               ///< what a score function's hidden layer is multiplied by
  std::optional<InitialDistribution> biases = {};  ///< kUniform, kFanIn; without them biases are zero
  double branch_gain = 1;  ///< for feed-forward nets and for the values and outputs of attention

  /// The same with one more gain for every matrix.
  InitialValues scaled(double gain) const;
  /// Sets the bias of a product whose argument has so many features: kFanIn is uniform within 1 / sqrt(features).
  void draw_bias(torch::Tensor bias, int64_t features, at::Generator& generator) const;
  /// The same with these for `matrices`.
  InitialValues with_matrices(const InitialDistribution& distribution) const;
};

/// A module that says what its parameters start from. Parameters of other modules keep what their constructors gave.
class HasInitialValues {
 public:
  virtual ~HasInitialValues() = default;
  /// Sets the parameters that the module itself has registered, in that order; not those of its submodules, whose turn
  /// comes after. By default they keep what the constructor gave them.
  virtual void reset_parameters(const InitialValues& /*values*/, at::Generator& /*generator*/) {}
  /// What a direct submodule, and all below it, draws from. By default the same as this module.
  virtual InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                             const InitialValues& values) const {
    return values;
  }
};

/// Calls reset_parameters() of `module` and of all below it, in the order of named_parameters().
void reset_all_parameters(torch::nn::Module& module, const InitialValues& values, at::Generator& generator);

}  // namespace nmt
