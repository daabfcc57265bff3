#include "scoring/metrics/ngrams.h"

#include <cstdlib>
#include <cstring>

#include "base/random.h"

namespace nmt::scoring {

/// Eight bytes at a time; words are short.
uint64_t hash_of_word(const std::string_view& word) {
  std::string_view rest = word;
  uint64_t hash = rest.size();
  while (rest.size() >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, rest.data(), 8);
    hash = mix64(hash ^ bytes);
    rest.remove_prefix(8);
  }
  uint64_t last = 0;
  for (const char c : rest) last = last << 8 | static_cast<uint8_t>(c);
  return mix64(hash * kHashMultiplier ^ last);
}

void NgramMatcher::clear() {
  ngrams_.clear();
  nodes_.resize(1);
}

void NgramMatcher::reset_counts() {
  for (Node& node : nodes_) node.in_this = 0;
}

void NgramMatcher::add_reference(std::span<const uint32_t> symbols) {
  reset_counts();
  for (size_t start = 0; start < symbols.size(); ++start) {
    const size_t end = std::min(symbols.size(), start + max_order_);
    uint32_t node = 0;
    for (size_t i = start; i < end; ++i) {
      node = ngrams_.add(static_cast<uint64_t>(node) << 32 | symbols[i]) + 1;
      if (node == nodes_.size()) nodes_.emplace_back();
      Node& counts = nodes_[node];
      counts.in_references = std::max(counts.in_references, ++counts.in_this);
    }
  }
}

void NgramMatcher::match(std::span<const uint32_t> symbols, std::span<int64_t> matches) {
  reset_counts();
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t start = 0; start < symbols.size(); ++start) {
    const size_t end = std::min(symbols.size(), start + max_order_);
    uint32_t node = 0;
    for (size_t i = start; i < end; ++i) {
      const uint32_t found = ngrams_.find(static_cast<uint64_t>(node) << 32 | symbols[i]);
      if (found == ngrams_.kUnknown) break;  // nor is any longer n-gram that begins so
      node = found + 1;
      Node& counts = nodes_[node];
      if (counts.in_this == counts.in_references) continue;
      ++counts.in_this;
      ++matches[i - start];
    }
  }
}

void WordMatcher::clear() {
  numbers_.clear();
  ngrams_.clear();
}

void WordMatcher::add_reference(std::span<const std::string_view> words) {
  symbols_.clear();
  for (const std::string_view word : words) symbols_.push_back(numbers_.add(word));
  ngrams_.add_reference(symbols_);
}

void WordMatcher::match(std::span<const std::string_view> words, std::span<int64_t> matches) {
  symbols_.clear();
  for (const std::string_view word : words) symbols_.push_back(numbers_.find(word));
  ngrams_.match(symbols_, matches);
}

void BleuCounter::clear() {
  words_.clear();
  reference_lengths_.clear();
}

void BleuCounter::add_reference(std::span<const std::string_view> words) {
  words_.add_reference(words);
  reference_lengths_.push_back(std::ssize(words));
}

void BleuCounter::count(std::span<const std::string_view> words, std::span<double> out) {
  words_.match(words, matches_);
  const int64_t length = std::ssize(words), orders = std::ssize(matches_);
  const int64_t closest = *std::ranges::min_element(reference_lengths_, [&](int64_t a, int64_t b) {
    const int64_t of_a = std::abs(a - length), of_b = std::abs(b - length);
    return of_a < of_b || (of_a == of_b && a < b && closest_ == ClosestLength::kShorter);
  });
  out[0] = static_cast<double>(length);
  out[1] = static_cast<double>(closest);
  for (int64_t n = 1; n <= orders; ++n) {
    out[1 + n] = static_cast<double>(matches_[n - 1]);
    out[1 + orders + n] = static_cast<double>(std::max<int64_t>(0, length - n + 1));
  }
}

}  // namespace nmt::scoring
