#pragma once

#include <cstdint>
#include <vector>

namespace nmt {

/// Phrases that a translation has to hold, each somewhere, in any order; they may share tokens. A hypothesis is told
/// what it has of them by one automaton a phrase (Knuth, Morris and Pratt 1977), so a phrase that breaks off and begins
/// again is followed exactly.
class PhraseConstraints {
 public:
  /// For each phrase how many of its first tokens stand at the end of the hypothesis; all of them, from then on, once
  /// it has appeared.
  using State = std::vector<int32_t>;

  PhraseConstraints() = default;
  explicit PhraseConstraints(std::vector<std::vector<int32_t>> phrases);  ///< none of them empty

  bool empty() const { return phrases_.empty(); }
  State start() const { return State(phrases_.size(), 0); }
  void advance(State& state, int32_t token) const;
  bool all_met(const State& state) const;
  /// Tokens of the phrases that have appeared and of the one that is farthest on its way: the hypothesis's bank.
  int64_t met_tokens(const State& state) const;
  /// The tokens that continue or start a phrase that has not appeared.
  std::vector<int32_t> next_tokens(const State& state) const;

 private:
  struct Phrase {
    std::vector<int32_t> tokens;
    std::vector<int32_t> fallback;  // [i]: length of the longest border of the first i tokens
  };
  bool is_met(const State& state, size_t phrase) const {
    return state[phrase] == static_cast<int32_t>(phrases_[phrase].tokens.size());
  }

  std::vector<Phrase> phrases_;
};

}  // namespace nmt
