#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/kinds.h"

namespace nmt {

/// The columns of BeamTensors::sentences, and what stands in the first of them (kernels/search.py).
enum SentenceColumn : int64_t { kStatus, kLength, kLimit, kWanted, kFinished, kLive, kSentenceColumns = 8 };
enum SentenceStatus : int32_t { kIdle, kRunning, kDone, kDamaged };
/// The columns of BeamTensors::ended.
enum EndedColumn : int64_t { kScore, kTotal, kEndLogProbability, kArrival, kParent, kEndedColumns };
constexpr double kNoArrival = 1e9;     ///< from here on: a place that holds no hypothesis
constexpr int64_t kRanksOfStep = 16;   ///< arrivals are numbered step * 16 + rank
constexpr int64_t kMostBeams = 8;      ///< hypotheses of a sentence
constexpr int64_t kMostWords = 65536;  ///< of the vocabulary

/// What a search on a device keeps of its beams: rows = sentences * beam, those of a sentence side by side; rows and
/// sentences may be views of the first of more. Contiguous.
struct BeamTensors {
  int64_t beam = 1;
  Stopping stopping = Stopping::kHeuristic;
  torch::Tensor sentences = {};  ///< int32 [sentences, kSentenceColumns]
  torch::Tensor sources = {};    ///< int32 [sentences, 2]: first row of the source's keys, words
  torch::Tensor totals = {};  ///< float64 [rows]: log-probability of each live hypothesis, best first; -inf behind them
  torch::Tensor words = {};   ///< int32 [rows]: what the next step is fed,
  torch::Tensor positions = {};  ///< int32 [rows]: and where it stands
  torch::Tensor ancestors = {};  ///< int32 [rows, capacity]: of each earlier position the row that holds its key
  torch::Tensor history = {};    ///< int32 [rows, capacity, 3]: word, parent in the beam, bits of its log-probability
  torch::Tensor ended = {};  ///< float64 [rows, kEndedColumns]: the best hypotheses that have finished, in any order
  torch::Tensor penalties = {};  ///< float64 [capacity + 1]: what a log-probability is divided by, by length

  /// Places of sentences that nobody has started, of so many words.
  static BeamTensors make(int64_t sentences, int64_t beam, int64_t capacity, torch::Device device);
  /// The first sentences alone, in the same memory.
  BeamTensors first(int64_t count) const;
  int64_t capacity() const { return ancestors.size(1); }
};

/// Weights of a normalisation, float32 [width] on the device.
struct SearchNorm {
  torch::Tensor weight, bias;
  double epsilon = 0;
  bool centred = true;  ///< false: the root of the mean square
};

struct Normalised {
  torch::Tensor sum;     ///< x + r + r_bias
  torch::Tensor normal;  ///< its normalisation
};

/// The steps of a search beside the products. All tensors are contiguous on one device and of one type but where it is
/// said; [rows, ...] are the first rows of the search.
class SearchOperations {
 public:
  virtual ~SearchOperations() = default;
  /// Rows of `table` [vocabulary, width] for beams.words times `scale`, plus those of `positions` [capacity, width]:
  /// [rows, width].
  virtual torch::Tensor embed(const BeamTensors& beams, const torch::Tensor& table, const torch::Tensor& positions,
                              double scale) = 0;
  /// x, r [rows, width], r_bias float32 [width]; r undefined: x alone.
  virtual Normalised normalise(const torch::Tensor& x, const torch::Tensor& r, const torch::Tensor& r_bias,
                               const SearchNorm& norm) = 0;
  /// qkv [rows, 3 width]: queries look at the keys of their hypothesis; those of this step go to cache [capacity, all
  /// rows, 2 width]. [rows, width]
  virtual torch::Tensor attend_to_past(const torch::Tensor& qkv, const torch::Tensor& cache, const BeamTensors& beams,
                                       int64_t heads) = 0;
  /// q [rows, width] against keys and values [source rows, 2 width], columns of wider rows: [rows, width].
  virtual torch::Tensor attend_to_source(const torch::Tensor& q, const torch::Tensor& keys_and_values,
                                         const BeamTensors& beams, int64_t heads) = 0;
  /// The rules of search() for each sentence that runs, by logits [rows, vocabulary or more].
  virtual void choose(const torch::Tensor& logits, int64_t vocabulary, const BeamTensors& beams) = 0;
};

/// In LibTorch's operators and plain loops, on any device, in any type: what kernels are compared with.
std::unique_ptr<SearchOperations> plain_search_operations();

}  // namespace nmt
