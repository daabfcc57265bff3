#pragma once

#include <cstdint>

#include "nn/kernels/types.h"

/// Kernels of recurrent models; what kernels.h says of kernels holds for them.
namespace nmt::kernels {

enum class Cell : int8_t { kGru, kLstm, kElman };

/// Blocks of features in a row of gates.
constexpr int64_t gates_of(Cell cell) { return cell == Cell::kGru ? 3 : cell == Cell::kLstm ? 4 : 1; }

/// One step of rows of states; the equations stand in nn/recurrent_cell.h.
struct CellStep {
  Cell cell = Cell::kGru;
  Type type = Type::kFloat;           ///< of the gates and their gradients
  int64_t size = 0;                   ///< features of a state
  const void* input_gates = nullptr;  ///< [rows, gates * size] products of the input
  const void* state_gates = nullptr;  ///< [rows, gates * size] products of the state before
  const bool* active = nullptr;       ///< [rows] false: the row's state stays as it is; nullptr = all active
  const float* state = nullptr;       ///< [rows, size] before the step
  const float* cell_state = nullptr;  ///< LSTM: [rows, size] before the step
  float* next_state = nullptr;        ///< [rows, size]; the backward pass does not use them
  float* next_cell_state = nullptr;
};

/// Gradients of one step: those of its results come in, those of its arguments go out.
struct CellGradients {
  const float* next_state = nullptr;       ///< [rows, size]
  const float* next_cell_state = nullptr;  ///< LSTM: [rows, size]
  void* input_gates = nullptr;             ///< [rows, gates * size]
  void* state_gates = nullptr;             ///< GRU: [rows, gates * size]; of other cells it is that of the input gates
  float* state = nullptr;                  ///< [rows, size] the part that does not go through the gates
  float* cell_state = nullptr;             ///< LSTM: [rows, size]
};

/// Every query of a sentence against its every key: queries [batch, target, size], keys [batch, source, size], scores
/// or weights [batch, target, source], all of one type.
struct ScoreShape {
  Type type = Type::kFloat;
  int64_t target = 0, source = 0, size = 0;
};

/// score = sum_i v_i tanh(query_i + key_i + coverage u_i).
struct AdditiveScores {
  ScoreShape shape;
  const void* queries = nullptr;
  const void* keys = nullptr;
  const float* v = nullptr;         ///< [size]
  const float* coverage = nullptr;  ///< [batch, target, source], or nullptr
  const float* u = nullptr;         ///< [size], with coverage
};

/// Gradients of additive scores; those of v and u in a row for each sentence, [batch, size].
struct AdditiveGradients {
  const void* scores = nullptr;  ///< [batch, target, source]: comes in
  void* queries = nullptr;
  void* keys = nullptr;
  float* v = nullptr;
  float* coverage = nullptr;  ///< [batch, target, source], with coverage
  float* u = nullptr;         ///< with coverage
};

struct RecurrentKernels {
  void (*cell)(const CellStep& step, Range rows);
  void (*cell_backward)(const CellStep& step, const CellGradients& gradients, Range rows);

  void (*additive_scores)(const AdditiveScores& task, void* scores, Range sentences);
  void (*additive_scores_backward)(const AdditiveScores& task, const AdditiveGradients& gradients, Range sentences);
  /// scores[t, s] = sum_i queries[t, i] keys[s, i]
  void (*dot_scores)(const ScoreShape& shape, const void* queries, const void* keys, void* scores, Range sentences);
  /// queries[t] = sum_s weights[t, s] keys[s]: contexts, where keys are values
  void (*weighted_sums)(const ScoreShape& shape, const void* weights, const void* keys, void* queries, Range sentences);
  /// keys[s] = sum_t weights[t, s] queries[t]: the gradient of keys in the two above
  void (*weighted_sums_of_queries)(const ScoreShape& shape, const void* weights, const void* queries, void* keys,
                                   Range sentences);
  /// Softmax over the first lengths[b] scores of each row of sentence b, the others become 0; float, in place.
  void (*softmax_scores)(const ScoreShape& shape, float* scores, const int64_t* lengths, Range sentences);
};

}  // namespace nmt::kernels
