#include "library/inner/translation_results.h"

#include <utility>
#include <vector>

#include "translation/lines/word_alignment.h"
#include "translation/output_format.h"

namespace nmt::api {
namespace {

std::vector<AlignedPair> alignment_of(const nmt::Alternative& found, std::string_view line,
                                      const nmt::TextCodec& codec) {
  std::vector<AlignedPair> pairs;
  for (const auto& [source, target] : word_links(codec, line, found))
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
