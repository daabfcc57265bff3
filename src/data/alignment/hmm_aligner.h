#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/alignment/lexicon_training.h"

namespace nmt {

/// p(target | source piece) of those targets that a source piece may translate to, and p(target | empty word).
class TranslationTable {
 public:
  static constexpr int32_t kNowhere = -1;

  explicit TranslationTable(const PieceTranslations& translations);

  /// Where the target stands in the source piece's row, or kNowhere.
  int32_t find(int32_t source, int32_t target) const;
  /// A target that is nowhere in the row has a little, so that no pair is impossible.
  float probability(int32_t source, int32_t place) const {
    return place == kNowhere ? kLeast : probabilities_[begins_[source] + place];
  }
  float empty_probability(int32_t target) const { return empty_[target]; }

  int64_t sources() const { return static_cast<int64_t>(begins_.size()) - 1; }
  int64_t targets() const { return static_cast<int64_t>(empty_.size()); }
  std::span<float> row(int32_t source) {
    return std::span(probabilities_).subspan(begins_[source], begins_[source + 1] - begins_[source]);
  }
  uint64_t row_begin(int32_t source) const { return begins_[source]; }
  uint64_t cells() const { return probabilities_.size(); }
  std::vector<float>& empty() { return empty_; }

 private:
  static constexpr float kLeast = 1e-7F;

  std::vector<uint64_t> begins_;  // [sources + 1] of the rows in what follows
  std::vector<int32_t> targets_;  // ascending in a row
  std::vector<float> probabilities_, empty_;
};

struct HmmOptions {
  int model_one_iterations = 5;  ///< before: they give the probabilities to begin with
  int iterations = 5;            ///< of the hidden Markov model
  int threads = 1;               ///< the result does not depend on them
  std::function<bool()> should_stop = [] { return false; };
  std::function<void(int64_t pairs_done, int64_t pairs)> progress = {};  ///< over all iterations of both models
};

/// The hidden Markov model of word alignment (Vogel, Ney and Tillmann 1996): each target piece comes from a source
/// piece, whose place depends on that of the target piece before by the distance alone; or from the empty word, which
/// keeps that place (Och and Ney 2003, sec. 2.1.2). Trained by expectation maximisation, from IBM Model 1.
///
///   p(t, a | s) = prod_j p(a_j | a_{j-1}) p(t_j | s_{a_j}),   p(i | i') ~ c(i - i') (1 - p_0)
class HmmAligner {
 public:
  /// The source piece of each target piece, or kEmpty.
  using Links = std::vector<int32_t>;
  static constexpr int32_t kEmpty = -1;

  /// Ids must be below the sizes of the vocabularies. Memory: as train_lexicon() takes for 256 translations of each
  /// source piece, and 100 MB. All sums are made in the order of the pairs. nullopt: should_stop said so.
  static std::optional<HmmAligner> train(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary,
                                         const HmmOptions& options);
  ~HmmAligner();
  HmmAligner(HmmAligner&&) noexcept;
  HmmAligner& operator=(HmmAligner&&) noexcept;

  /// The most probable alignment (Viterbi). Time grows with target x source². Any number of threads may call it.
  /// log_probability: log p(target, alignment | source), of two sides that are not empty; may be null.
  Links align(std::span<const int32_t> source, std::span<const int32_t> target,
              double* log_probability = nullptr) const;

 private:
  class Model;
  explicit HmmAligner(std::unique_ptr<Model> model);
  std::unique_ptr<Model> model_;
};

}  // namespace nmt
