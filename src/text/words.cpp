#include "text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/line_reader.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr int64_t kSpecialCount = 1000000000;  // beyond every minimum

bool is_special(std::string_view word) {
  return std::find(kSpecialWords.begin(), kSpecialWords.end(), word) != kSpecialWords.end();
}

}  // namespace

void WordCounts::add(std::string_view line) {
  split_words(line, words_);
  for (const std::string_view word : words_) {
    auto found = counts_.find(word);
    if (found == counts_.end()) {
      if (is_special(word)) continue;
      found = counts_.emplace(word, Count{.count = 0, .order = size()}).first;
    }
    ++found->second.count;
  }
}

std::string WordCounts::to_tsv(WordTies ties) const {
  std::vector<const std::pair<const std::string, Count>*> entries;
  entries.reserve(counts_.size());
  for (const auto& entry : counts_) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [ties](const auto* a, const auto* b) {
    if (a->second.count != b->second.count) return a->second.count > b->second.count;
    return ties == WordTies::kFirst ? a->second.order < b->second.order
                                    : a->first < b->first;  // UTF-8 sorts as its code points
  });
  std::string tsv;
  const auto write = [&](std::string_view word, int64_t count) {
    fmt::format_to(std::back_inserter(tsv), "{}\t{}\n", word, count);
  };
  for (const std::string_view word : kSpecialWords) write(word, kSpecialCount);
  for (const auto* entry : entries) write(entry->first, entry->second.count);
  return tsv;
}

namespace {

struct Entry {
  std::string_view word;
  int64_t count = 0;
};

/// A line of the file. Throws Error with what is wrong with it.
Entry parse_entry(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) throw Error("no tab; a line is a word, a tab and its count");
  const std::string_view digits = line.substr(tab + 1);
  Entry entry{.word = line.substr(0, tab)};
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), entry.count);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || entry.count < 0) {
    throw Error(fmt::format("'{}' is no count; a line is a word, a tab and its count", repair_utf8(digits)));
  }
  if (entry.word.empty()) throw Error("the word is empty; a line is a word, a tab and its count");
  if (find_invalid_utf8(entry.word)) throw Error("the word is not UTF-8; convert the file (iconv)");
  return entry;
}

}  // namespace

WordTokenizer::WordTokenizer(std::string tsv, const std::string& name, WordLimits limits)
    : serialized_(std::move(tsv)), limits_(limits) {
  std::unordered_map<std::string_view, size_t> lines_of_words;
  const std::string_view text = serialized_;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    try {
      const Entry entry = parse_entry(text.substr(begin, end - begin));
      if (number < kSpecialWords.size() && entry.word != kSpecialWords[number]) {
        throw Error(fmt::format("'{}' where {} must stand; the first four words are {}, {}, {} and {}", entry.word,
                                kSpecialWords[number], kSpecialWords[0], kSpecialWords[1], kSpecialWords[2],
                                kSpecialWords[3]));
      }
      const auto [other, is_new] = lines_of_words.emplace(entry.word, number + 1);
      if (!is_new) throw Error(fmt::format("'{}' stands in line {} too; remove one", entry.word, other->second));
      const bool is_special = number < kSpecialWords.size();
      if (is_special || (entry.count >= limits.min_count && size() < limits.max_size)) {
        if (!is_special) ids_.emplace(entry.word, static_cast<int32_t>(size()));
        words_.push_back(entry.word);
        counts_.push_back(entry.count);
      }
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", name, number + 1, error.what()));
    }
    begin = end + 1;
  }
  if (number < kSpecialWords.size()) {
    throw Error(fmt::format("{}: {} lines; a word vocabulary begins with {}, {}, {} and {}", name, number,
                            kSpecialWords[0], kSpecialWords[1], kSpecialWords[2], kSpecialWords[3]));
  }
  if (ids_.empty()) {
    throw Error(fmt::format("{}: no word has a count of {} (data.min_cnt) or more; lower it", name, limits.min_count));
  }
}

constexpr size_t kLargestVocabulary = 1 << 30;  // bytes

std::shared_ptr<const WordTokenizer> WordTokenizer::load(const std::filesystem::path& path, WordLimits limits) {
  return std::make_shared<const WordTokenizer>(
      std::string(without_byte_order_mark(read_regular_file(path, kLargestVocabulary))), path.string(), limits);
}

std::vector<int32_t> WordTokenizer::encode(std::string_view text) const {
  std::vector<std::string_view> words;
  split_words(text, words);
  std::vector<int32_t> ids;
  ids.reserve(words.size());
  for (const std::string_view word : words) {
    const auto found = ids_.find(word);
    ids.push_back(found == ids_.end() ? SpecialIds::kUnknown : found->second);
  }
  return ids;
}

std::string WordTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    if (id == SpecialIds::kPad || id == SpecialIds::kBegin || id == SpecialIds::kEnd) continue;
    if (!text.empty()) text += ' ';
    text += piece(id);
  }
  return text;
}

int64_t WordTokenizer::count(int32_t id) const {
  if (id < 0 || id >= size()) throw Error(fmt::format("word {} of a vocabulary of {}", id, size()));
  return counts_[static_cast<size_t>(id)];
}

std::string WordTokenizer::piece(int32_t id) const {
  if (id < 0 || id >= size()) throw Error(fmt::format("word {} of a vocabulary of {}", id, size()));
  return std::string(words_[static_cast<size_t>(id)]);
}

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
