#include "text/words/word_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "base/words.h"
#include "text/words/word_counts.h"

namespace nmt {
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

std::shared_ptr<const WordTokenizer> WordTokenizer::load(const std::filesystem::path& path, WordLimits limits) {
  return std::make_shared<const WordTokenizer>(std::string(without_byte_order_mark(read_file(path))), path.string(),
                                               limits);
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

}  // namespace nmt
