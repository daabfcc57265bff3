#include "search/logits_rules.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace nmt {

void make_distinct(std::vector<int32_t>& tokens) {
  constexpr size_t kMany = 64;  // a vocabulary's candidates: a bit for each id is quicker than sorting
  if (tokens.size() < kMany) {
    std::ranges::sort(tokens);
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return;
  }
  std::vector<uint64_t> there(std::ranges::max(tokens) / 64 + 1);
  for (const int32_t token : tokens) there[token / 64] |= uint64_t{1} << token % 64;
  tokens.clear();
  for (size_t word = 0; word < there.size(); ++word)
    for (uint64_t bits = there[word]; bits != 0; bits &= bits - 1)
      tokens.push_back(static_cast<int32_t>(word * 64) + std::countr_zero(bits));
}

bool RowLogits::has(int32_t token) const { return columns_.empty() || std::ranges::binary_search(columns_, token); }

int64_t RowLogits::column(int32_t token) const {
  return columns_.empty() ? token : std::ranges::lower_bound(columns_, token) - columns_.begin();
}

std::vector<int64_t> RowLogits::flat(std::span<const Place> places) const {
  std::vector<int64_t> flat;
  for (const auto& [row, token] : places) flat.push_back(row * logits_.columns() + column(token));
  return flat;
}

void RowLogits::update(std::span<const Place> places, const std::function<void(std::span<float>)>& change) {
  if (places.empty()) return;
  const auto at = flat(places);
  auto values = logits_.at(at);
  change(values);
  logits_.set(at, values);
}

void RowLogits::penalize(std::span<const Place> places, float penalty) {
  if (!places.empty()) logits_.penalize(flat(places), penalty);
}

void Logits::penalize(std::span<const int64_t> places, float penalty) {
  auto values = at(places);
  for (float& value : values) value = value > 0 ? value / penalty : value * penalty;
  set(places, values);
}

namespace {

using Rule = std::shared_ptr<const LogitsRule>;

/// Null where the options do not ask for it.
using Maker = Rule (*)(const SearchOptions& options);

// A new rule is one file and one line here. They are asked in this order.
constexpr Maker kRules[] = {
    [](const SearchOptions&) -> Rule { return std::make_shared<ForcedPrefix>(); },
    MinLength::make,
    NoUnknown::make,
    [](const SearchOptions& options) -> Rule { return std::make_shared<BannedSequences>(options.banned); },
    [](const SearchOptions& options) -> Rule {
      return std::make_shared<NoRepeatedNgrams>(options.no_repeat_ngram_size);
    },
    RepetitionPenalty::make,
};

}  // namespace

LogitsRules::LogitsRules(const SearchOptions& options) {
  for (const auto& make : kRules)
    if (auto rule = make(options)) rules_.push_back(std::move(rule));
  rules_.insert(rules_.end(), options.rules.begin(), options.rules.end());
}

bool LogitsRules::concern(const SearchInput& input) const {
  return std::ranges::any_of(rules_, [&](const auto& rule) { return rule->concerns(input); });
}

std::span<const int32_t> LogitsRules::beginning(const SearchInput& input) const {
  std::span<const int32_t> longest;
  for (const auto& rule : rules_)
    if (const auto own = rule->beginning(input); own.size() > longest.size()) longest = own;
  return longest;
}

void LogitsRules::judge(RowRules& row) const {
  for (const auto& rule : rules_) {
    rule->judge(row);
    if (row.only_wanted) return row.banned.clear();
  }
}

void LogitsRules::change(Logits& logits, Of of, std::span<const RowRules> rows,
                         std::span<const int32_t> columns) const {
  RowLogits changed(logits, rows, columns);
  for (const auto& rule : rules_)
    if (of == Of::kModel || rule->changes_each_model() == (of == Of::kMember)) rule->change(changed);
}

}  // namespace nmt
