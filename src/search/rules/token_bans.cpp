#include "search/rules/token_bans.h"

#include <algorithm>

#include "text/tokenizer.h"

namespace nmt {
namespace {

void add_repeated_ngrams(std::span<const int32_t> tokens, size_t size, std::vector<int32_t>& banned) {
  if (tokens.size() < size) return;
  const auto last = tokens.last(size - 1);
  for (size_t start = 0; start + size <= tokens.size(); ++start)
    if (std::ranges::equal(tokens.subspan(start, size - 1), last)) banned.push_back(tokens[start + size - 1]);
}

bool ends_with(std::span<const int32_t> tokens, std::span<const int32_t> end) {
  return tokens.size() >= end.size() && std::ranges::equal(tokens.last(end.size()), end);
}

}  // namespace

bool has_bans(const SearchOptions& options) {
  return options.min_length > 0 || options.ban_unknown || options.no_repeat_ngram_size > 0 || !options.banned.empty();
}

void add_banned_tokens(const SearchOptions& options, std::span<const int32_t> tokens, std::vector<int32_t>& banned) {
  if (std::ssize(tokens) < options.min_length) banned.push_back(SpecialIds::kEnd);
  if (options.ban_unknown) banned.push_back(SpecialIds::kUnknown);
  add_sequence_ends(options.banned, tokens, banned);
  if (options.no_repeat_ngram_size > 0) add_repeated_ngrams(tokens, options.no_repeat_ngram_size, banned);
}

void add_sequence_ends(std::span<const std::vector<int32_t>> sequences, std::span<const int32_t> tokens,
                       std::vector<int32_t>& banned) {
  for (const auto& sequence : sequences)
    if (ends_with(tokens, std::span(sequence).first(sequence.size() - 1))) banned.push_back(sequence.back());
}

}  // namespace nmt
