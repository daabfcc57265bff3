#include "translation/lines/word_alignment.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/unicode.h"
#include "text/codec/word_pieces.h"

namespace nmt {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return {words.begin(), words.end()};
}

/// The pieces that a part begins with and that belong to no word of the line: those of source_prefix, and of a tag that
/// was repeated.
int64_t added_pieces(const TextCodec& codec, const AlternativePart& part) {
  return codec.prefix_length(part.source) + part.repeated;
}

/// The words of a raw line and which of them each piece belongs to, all parts one after the other.
WordPieces words_of_line(const TextCodec& codec, std::string_view line, const Alternative& alternative) {
  std::vector<int32_t> ids;
  for (const auto& part : alternative.parts)
    ids.insert(ids.end(), part.source.begin() + added_pieces(codec, part), part.source.end());
  return source_words(codec, line, ids);
}

bool has_letter_or_digit(std::string_view piece) {
  for (size_t i = 0; i < piece.size();)
    if (u_isalnum(static_cast<UChar32>(next_code_point(piece, i)))) return true;
  return false;
}

/// Which pieces speak for their words. Signs at a word do not: the full stop of the last word looks at the source's
/// full stop, whose word may be another one. A word of nothing but signs has them all.
std::vector<bool> pieces_that_count(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                                    std::span<const int64_t> word_of_piece) {
  std::vector<bool> counts(word_of_piece.size());
  std::set<int64_t> words;
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i] = has_letter_or_digit(tokenizer.piece(ids[i]));
    if (counts[i]) words.insert(word_of_piece[i]);
  }
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = counts[i] || !words.contains(word_of_piece[i]);
  return counts;
}

/// One part of a line beside the words of its source.
struct PartOfLine {
  const AlternativePart& part;
  int64_t prefix;                          // added_pieces()
  std::span<const int64_t> word_of_piece;  // of the others, counted in the line
  std::vector<bool> counts;                // pieces_that_count() of them

  int64_t first_word() const { return word_of_piece.front(); }
  int64_t word_count() const { return word_of_piece.back() - word_of_piece.front() + 1; }

  /// What a token spends on each of the part's words.
  std::vector<float> weights_of(int64_t token) const {
    std::vector<float> weights(word_count());
    const float* row = part.attention.data() + token * std::ssize(part.source) + prefix;
    for (size_t piece = 0; piece < word_of_piece.size(); ++piece)
      if (counts[piece]) weights[word_of_piece[piece] - first_word()] += row[piece];
    return weights;
  }
};

/// The parts that have a source and attention.
std::vector<PartOfLine> parts_of(const TextCodec& codec, const Alternative& alternative, const WordPieces& line) {
  std::vector<PartOfLine> parts;
  size_t offset = 0;
  for (const auto& part : alternative.parts) {
    const int64_t prefix = added_pieces(codec, part);
    const auto own = std::span(line.word_of_piece).subspan(offset, part.source.size() - prefix);
    offset += own.size();
    if (own.empty() || part.attention.empty()) continue;
    parts.push_back(
        {part, prefix, own, pieces_that_count(codec.source(), std::span(part.source).subspan(prefix), own)});
  }
  return parts;
}

int64_t place_of_largest(std::span<const float> weights) { return std::ranges::max_element(weights) - weights.begin(); }

/// Rows are the target's words, columns the source's. word_of_token: of each target piece its word, counted in the
/// part; counts: pieces_that_count() of them.
std::vector<float> average_over_words(const PartOfLine& part, std::span<const int64_t> word_of_token,
                                      const std::vector<bool>& counts, int64_t rows) {
  const int64_t columns = part.word_count();
  std::vector<float> sums(rows * columns), tokens_of_word(rows);
  for (int64_t token = 0; token < std::ssize(word_of_token); ++token) {
    if (!counts[token]) continue;
    const int64_t row = word_of_token[token];
    const auto weights = part.weights_of(token);
    for (int64_t column = 0; column < columns; ++column) sums[row * columns + column] += weights[column];
    ++tokens_of_word[row];
  }
  for (int64_t i = 0; i < rows * columns; ++i) sums[i] /= std::max(1.0F, tokens_of_word[i / columns]);
  return sums;
}

/// Which words of a text overlap [begin, end), from first to last.
std::pair<size_t, size_t> words_in(const std::vector<std::string_view>& words, std::string_view text, size_t begin,
                                   size_t end) {
  const auto place = [&](std::string_view word) { return static_cast<size_t>(word.data() - text.data()); };
  const auto first = std::ranges::partition_point(words, [&](auto word) { return place(word) + word.size() <= begin; });
  const auto last = std::partition_point(first, words.end(), [&](auto word) { return place(word) < end; });
  return {first - words.begin(), last - words.begin()};
}

/// Which words belong together where that is known by bytes.
std::vector<WordLink> links_of(const std::vector<AlignedWords>& aligned, std::string_view line,
                               std::string_view translation) {
  std::vector<std::string_view> source_words, target_words;
  split_words(line, source_words);
  split_words(translation, target_words);
  std::set<std::pair<size_t, size_t>> pairs;  // target first: the order of the translation
  for (const auto& words : aligned) {
    const auto source = words_in(source_words, line, words.source_begin, words.source_end);
    const auto target = words_in(target_words, translation, words.target_begin, words.target_end);
    for (size_t t = target.first; t < target.second; ++t)
      for (size_t s = source.first; s < source.second; ++s) pairs.emplace(t, s);
  }
  std::vector<WordLink> links;
  for (const auto& [target, source] : pairs)
    links.push_back({static_cast<int64_t>(source), static_cast<int64_t>(target)});
  return links;
}

std::string as_pharaoh(std::span<const WordLink> links) {
  std::string line;
  for (const auto& [source, target] : links)
    fmt::format_to(std::back_inserter(line), "{}{}-{}", line.empty() ? "" : " ", source, target);
  return line;
}

/// Chosen by the alignment error rate of 100 pairs (docs/results.md): 0.05 to 0.3 differ little.
constexpr float kShare = 0.1F;

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

}  // namespace

std::vector<WordAttention> word_attention(const TextCodec& codec, std::string_view line,
                                          const Alternative& alternative) {
  const auto& cut = alternative.cut;
  const WordPieces source = words_of_line(codec, cut ? std::string_view(cut->source) : line, alternative);
  const auto target = words_of(cut ? cut->translation : alternative.text);  // which may hold words that were copied
  std::vector<WordAttention> result;
  int64_t first_target = 0;
  for (const auto& part : parts_of(codec, alternative, source)) {
    auto word_of_token = target_words(codec, part.part.target).word_of_piece;
    const int64_t left = std::ssize(target) - first_target;
    if (word_of_token.empty() || left <= 0) continue;
    for (auto& word : word_of_token) word = std::min(word, left - 1);
    const int64_t rows = word_of_token.back() + 1;
    const auto counts = pieces_that_count(codec.target(), part.part.target, word_of_token);
    const auto first_key = source.words.begin() + part.first_word(), first_query = target.begin() + first_target;
    result.push_back({.first_source = part.first_word(),
                      .first_target = first_target,
                      .grid = {.name = "words",
                               .heads = 1,
                               .queries = {first_query, first_query + rows},
                               .keys = {first_key, first_key + part.word_count()},
                               .weights = average_over_words(part, word_of_token, counts, rows)}});
    first_target += rows;
  }
  return result;
}

namespace {

/// One grid of all parts.
AttentionGrid joined(std::span<const WordAttention> parts) {
  AttentionGrid whole = parts.front().grid;
  for (const auto& [first_source, first_target, grid] : parts.subspan(1)) {
    const size_t rows = whole.queries.size(), columns = whole.keys.size(), all = columns + grid.keys.size();
    std::vector<float> weights((rows + grid.queries.size()) * all);
    for (size_t row = 0; row < rows; ++row)
      std::copy_n(whole.weights.data() + row * columns, columns, weights.data() + row * all);
    for (size_t row = 0; row < grid.queries.size(); ++row)
      std::copy_n(grid.weights.data() + row * grid.keys.size(), grid.keys.size(),
                  weights.data() + (rows + row) * all + columns);
    std::ranges::copy(grid.queries, std::back_inserter(whole.queries));
    std::ranges::copy(grid.keys, std::back_inserter(whole.keys));
    whole.weights = std::move(weights);
  }
  return whole;
}

}  // namespace

std::vector<AttentionGrid> piece_attention(const TextCodec& codec, const Alternative& alternative) {
  std::vector<AttentionGrid> grids;
  for (const auto& part : alternative.parts) {
    auto queries = pieces_of(codec.target(), part.target);
    if (part.finished) queries.push_back(codec.target().piece(SpecialIds::kEnd));
    grids.push_back({.name = "pieces",
                     .heads = 1,
                     .queries = std::move(queries),
                     .keys = pieces_of(codec.source(), part.source),
                     .weights = part.attention});
  }
  return grids;
}

// "blond-haired" looks at "blondem" and "Haar" by halves.
std::vector<WordLink> word_links(std::span<const WordAttention> parts) {
  std::vector<WordLink> links;
  for (const auto& part : parts) {
    const size_t columns = part.grid.keys.size(), rows = part.grid.queries.size();
    std::vector<bool> is_linked(columns);
    const auto link = [&](size_t row, size_t column) {
      links.push_back(
          {part.first_source + static_cast<int64_t>(column), part.first_target + static_cast<int64_t>(row)});
      is_linked[column] = true;
    };
    for (size_t row = 0; row < rows; ++row)
      link(row, place_of_largest(std::span(part.grid.weights).subspan(row * columns, columns)));
    for (size_t column = 0; column < columns; ++column) {
      if (is_linked[column]) continue;
      size_t best = 0;
      for (size_t row = 1; row < rows; ++row)
        if (part.grid.weights[row * columns + column] > part.grid.weights[best * columns + column]) best = row;
      if (part.grid.weights[best * columns + column] >= kShare) link(best, column);
    }
  }
  std::ranges::sort(links, {}, [](const WordLink& link) { return std::pair(link.target, link.source); });
  return links;
}

std::vector<WordLink> word_links(const TextCodec& codec, std::string_view line, const Alternative& alternative) {
  if (alternative.aligned) return links_of(*alternative.aligned, line, alternative.text);
  return word_links(word_attention(codec, line, alternative));
}

std::string pharaoh_alignment(std::span<const WordAttention> parts) { return as_pharaoh(word_links(parts)); }

std::string pharaoh_alignment(const TextCodec& codec, std::string_view line, const Alternative& alternative) {
  return as_pharaoh(word_links(codec, line, alternative));
}

std::vector<AlignedWords> aligned_words(std::span<const WordAttention> parts, std::string_view line,
                                        std::string_view translation) {
  std::vector<std::string_view> source_words, target_words;
  split_words(line, source_words);
  split_words(translation, target_words);
  std::vector<AlignedWords> aligned;
  for (const auto& [source, target] : word_links(parts)) {
    if (source >= std::ssize(source_words) || target >= std::ssize(target_words)) continue;
    const size_t from = source_words[source].data() - line.data(),
                 to = target_words[target].data() - translation.data();
    aligned.push_back({from, from + source_words[source].size(), to, to + target_words[target].size()});
  }
  return aligned;
}

void add_words(const TextCodec& codec, const Request& request, Translation& translation) {
  const bool alignment = request.alignment || request.markup;
  if (!alignment && !request.word_attention) return;
  for (auto& one : translation.alternatives) {
    const bool is_best = &one == &translation.alternatives.front();
    if (one.cut || (!alignment && !is_best)) continue;
    auto parts = word_attention(codec, request.source, one);
    if (alignment) one.aligned = aligned_words(parts, request.source, one.text);
    if (request.word_attention && is_best && !parts.empty()) translation.word_attention = joined(parts);
  }
}

void copy_unknown_words(const TextCodec& codec, std::string_view line, Translation& translation) {
  const std::string unknown = codec.target().piece(SpecialIds::kUnknown);
  const auto has_unknown = [](const AlternativePart& part) {
    return std::ranges::find(part.target, SpecialIds::kUnknown) != part.target.end();
  };
  for (auto& alternative : translation.alternatives) {
    if (std::ranges::none_of(alternative.parts, has_unknown)) continue;
    const auto source = words_of_line(codec, line, alternative);
    size_t at = 0;
    for (const auto& part : parts_of(codec, alternative, source)) {
      for (int64_t token = 0; token < std::ssize(part.part.target); ++token) {
        if (part.part.target[token] != SpecialIds::kUnknown) continue;
        at = alternative.text.find(unknown, at);
        if (at == std::string::npos) break;
        const auto& word = source.words[part.first_word() + place_of_largest(part.weights_of(token))];
        alternative.text.replace(at, unknown.size(), word);
        at += word.size();
      }
    }
  }
  if (!translation.alternatives.empty()) translation.text = translation.alternatives.front().text;
}

}  // namespace nmt
