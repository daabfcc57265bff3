#include "text/words/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/files/line_reader.h"

namespace nmt {
namespace {

constexpr std::string_view kWordBegin = "\xE2\x96\x81";  // U+2581
constexpr int32_t kFirstPiece = SpecialIds::kEnd + 1;

/// How a vector came to a piece: its own word replaces one that only lacks the mark of a word's beginning.
enum class Match : int8_t { kNone, kWithoutMark, kExact };

struct Candidate {
  int32_t id;
  Match match;
};

std::unordered_map<std::string, std::vector<Candidate>> candidates_of(const Tokenizer& vocabulary) {
  std::unordered_map<std::string, std::vector<Candidate>> candidates;
  for (auto id = kFirstPiece; id < vocabulary.size(); ++id) {
    const std::string piece = vocabulary.piece(id);
    candidates[piece].push_back({id, Match::kExact});
    if (piece.starts_with(kWordBegin) && piece.size() > kWordBegin.size())
      candidates[piece.substr(kWordBegin.size())].push_back({id, Match::kWithoutMark});
  }
  return candidates;
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

/// How many words the header "WORDS SIZE" promises; nullopt for any other line.
std::optional<int64_t> words_of_header(std::string_view line) {
  int64_t words = 0, size = 0;
  const auto is_number = [](std::string_view text, int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
  };
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || !is_number(line.substr(0, space), words)) return std::nullopt;
  return is_number(line.substr(space + 1), size) ? std::optional(words) : std::nullopt;
}

/// Reads exactly `count` numbers; false if one is none.
bool read_numbers(std::string_view text, float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const size_t space = text.find(' ');
    const auto field = text.substr(0, space);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), numbers[i]);
    if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(numbers[i])) return false;
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return true;
}

}  // namespace

WordVectors read_word_vectors(const std::filesystem::path& path, const Tokenizer& vocabulary, int64_t size) {
  const auto candidates = candidates_of(vocabulary);
  const auto pieces = static_cast<size_t>(vocabulary.size());
  std::vector<Match> matches(pieces, Match::kNone);
  std::vector<std::vector<float>> found(pieces);
  LineReader reader(path);
  int64_t lines = 0, promised = 0;
  while (const auto read = reader.next()) {
    const auto line = without_end(reader.line_number() == 1 ? without_byte_order_mark(*read) : *read);
    if (reader.line_number() == 1 && size != 1) {
      if (const auto words = words_of_header(line)) {
        promised = *words;
        continue;
      }
    }
    const auto fail = [&](const std::string& what) {
      throw Error(fmt::format("{}:{}: {}", path.string(), reader.line_number(), what));
    };
    const int64_t numbers = std::count(line.begin(), line.end(), ' ');
    if (numbers != size)
      fail(
          fmt::format("{} numbers behind the word; the embeddings of this model have {}: use other vectors or another "
                      "size (model.d_model, model.embedding_size)",
                      numbers, size));
    ++lines;
    const size_t space = line.find(' ');
    const auto wanted = candidates.find(std::string(line.substr(0, space)));
    if (wanted == candidates.end()) continue;
    std::vector<float> vector(static_cast<size_t>(size));
    if (!read_numbers(line.substr(space + 1), vector.data(), size)) fail("not a number in a vector; check the file");
    for (const auto& candidate : wanted->second) {
      if (candidate.match <= matches[candidate.id]) continue;
      matches[candidate.id] = candidate.match;
      found[candidate.id] = vector;
    }
  }
  if (lines == 0) throw Error(fmt::format("{}: no word vectors in it; check the file", path.string()));
  if (lines < promised)
    throw Error(
        fmt::format("{}: cut short: its first line promises {} vectors, {} are there; get the file anew, or "
                    "write the right number there",
                    path.string(), promised, lines));
  WordVectors vectors{.ids = {}, .values = {}, .size = size};
  for (int32_t id = kFirstPiece; id < vocabulary.size(); ++id) {
    if (matches[id] == Match::kNone) continue;
    vectors.ids.push_back(id);
    vectors.values.insert(vectors.values.end(), found[id].begin(), found[id].end());
  }
  return vectors;
}

}  // namespace nmt
