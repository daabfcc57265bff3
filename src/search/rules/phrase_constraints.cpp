#include "search/rules/phrase_constraints.h"

#include <algorithm>
#include <utility>

namespace nmt {

PhraseConstraints::PhraseConstraints(std::vector<std::vector<int32_t>> phrases) {
  for (auto& tokens : phrases) {
    std::vector<int32_t> fallback(tokens.size() + 1, 0);
    for (size_t i = 1; i < tokens.size(); ++i) {
      int32_t border = fallback[i];
      while (border > 0 && tokens[border] != tokens[i]) border = fallback[border];
      fallback[i + 1] = border + (tokens[border] == tokens[i] ? 1 : 0);
    }
    phrases_.push_back({std::move(tokens), std::move(fallback)});
  }
}

void PhraseConstraints::advance(State& state, int32_t token) const {
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) continue;
    const auto& [tokens, fallback] = phrases_[i];
    int32_t matched = state[i];
    while (matched > 0 && tokens[matched] != token) matched = fallback[matched];
    state[i] = matched + (tokens[matched] == token ? 1 : 0);
  }
}

bool PhraseConstraints::all_met(const State& state) const {
  for (size_t i = 0; i < phrases_.size(); ++i)
    if (!is_met(state, i)) return false;
  return true;
}

int64_t PhraseConstraints::met_tokens(const State& state) const {
  int64_t met = 0, farthest = 0;
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) {
      met += state[i];
    } else {
      farthest = std::max<int64_t>(farthest, state[i]);
    }
  }
  return met + farthest;
}

std::vector<int32_t> PhraseConstraints::next_tokens(const State& state) const {
  std::vector<int32_t> next;
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) continue;
    const auto& [tokens, fallback] = phrases_[i];
    int32_t matched = state[i];
    for (; matched > 0; matched = fallback[matched]) next.push_back(tokens[matched]);
    next.push_back(tokens.front());
  }
  return next;
}

}  // namespace nmt
