#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "search/rules/logits_rule.h"

namespace nmt {

/// No translation holds a sequence of SearchOptions::banned, nor one of its sentence's SearchInput::banned: the last
/// token is banned where the others stand at the end of the hypothesis.
class BannedSequences final : public LogitsRule {
 public:
  using Sequences = std::vector<std::vector<int32_t>>;

  explicit BannedSequences(Sequences everywhere) : everywhere_(std::move(everywhere)) {}
  bool concerns(const SearchInput& input) const override { return !everywhere_.empty() || !input.banned.empty(); }
  void judge(RowRules& row) const override {
    ban_ends(everywhere_, row);
    ban_ends(row.input->banned, row);
  }

 private:
  static void ban_ends(const Sequences& sequences, RowRules& row) {
    const std::span tokens(row.tokens);
    for (const auto& sequence : sequences) {
      const auto others = std::span(sequence).first(sequence.size() - 1);
      if (tokens.size() >= others.size() && std::ranges::equal(tokens.last(others.size()), others))
        row.banned.push_back(sequence.back());
    }
  }

  Sequences everywhere_;
};

}  // namespace nmt
