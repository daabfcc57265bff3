#include "api/inner/translation_results.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/words.h"
#include "translation/lines/word_alignment.h"
#include "translation/output_format.h"

namespace nmt::api {
namespace {

/// Which words of a text overlap [begin, end), from first to last; {0, 0}: none.
std::pair<size_t, size_t> words_in(const std::vector<std::string_view>& words, std::string_view text, size_t begin,
                                   size_t end) {
  size_t first = words.size(), last = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t from = words[i].data() - text.data();
    if (from >= end || from + words[i].size() <= begin) continue;
    first = std::min(first, i);
    last = i + 1;
  }
  return {std::min(first, last), last};
}

/// Of a line with terms: which words belong together is known by bytes.
std::vector<AlignedPair> pairs_of(const std::vector<nmt::AlignedWords>& aligned, std::string_view line,
                                  std::string_view translation) {
  std::vector<std::string_view> source_words, target_words;
  split_words(line, source_words);
  split_words(translation, target_words);
  std::set<std::pair<size_t, size_t>> links;  // target first: the order of the translation
  for (const auto& words : aligned) {
    const auto source = words_in(source_words, line, words.source_begin, words.source_end);
    const auto target = words_in(target_words, translation, words.target_begin, words.target_end);
    for (size_t t = target.first; t < target.second; ++t)
      for (size_t s = source.first; s < source.second; ++s) links.emplace(t, s);
  }
  std::vector<AlignedPair> pairs;
  for (const auto& [target, source] : links)
    pairs.push_back({static_cast<int32_t>(source), static_cast<int32_t>(target)});
  return pairs;
}

std::vector<AlignedPair> alignment_of(const nmt::Alternative& found, std::string_view line,
                                      const nmt::TextCodec& codec) {
  if (found.aligned) return pairs_of(*found.aligned, line, found.text);
  std::vector<AlignedPair> pairs;
  for (const auto& [source, target] : word_links(word_attention(codec, line, found)))
    pairs.push_back({static_cast<int32_t>(source), static_cast<int32_t>(target)});
  return pairs;
}

}  // namespace

Alternative to_alternative(nmt::Alternative found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options) {
  Alternative result;
  result.score = found.score;
  result.log_probability = found.log_probability;
  result.tokens = found.tokens;
  result.finished = found.finished;
  result.meets_constraints = found.meets_constraints;
  result.shortened = found.shortened;
  if (options.token_scores) result.pieces = token_pieces(found, codec);
  if (options.alignment) result.alignment = alignment_of(found, line, codec);
  if (options.attention) {
    for (auto& grid : piece_attention(codec, found))
      result.attention.push_back({std::move(grid.queries), std::move(grid.keys), std::move(grid.weights)});
  }
  if (options.token_scores) result.token_scores = std::move(found.token_log_probabilities);
  result.text = std::move(found.text);
  return result;
}

Translation to_translation(nmt::Translation found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options) {
  Translation result;
  result.text = std::move(found.text);
  result.source_tokens = found.source_tokens;
  result.target_tokens = found.target_tokens;
  result.split = found.split;
  for (auto& alternative : found.alternatives)
    result.alternatives.push_back(to_alternative(std::move(alternative), line, codec, options));
  return result;
}

}  // namespace nmt::api
