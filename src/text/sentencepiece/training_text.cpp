#include "text/sentencepiece/training_text.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/threads.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

constexpr uint64_t kPurpose = 0x73616d706c65;  // "sample": apart from other uses of the run's seed

}  // namespace

SentenceSample::SentenceSample(int64_t capacity, uint64_t seed) : capacity_(capacity), random_({kPurpose, seed}) {}

void SentenceSample::offer(std::string_view line) {
  ++offered_;
  if (capacity_ == 0 || offered_ <= capacity_) {
    lines_.emplace_back(line);
    return;
  }
  const uint64_t slot = random_.below(static_cast<uint64_t>(offered_));
  if (slot < static_cast<uint64_t>(capacity_)) lines_[slot] = line;
}

namespace {

/// SentencePiece stores positions in a word in 16 bits and ends the program beyond: NFKC makes at most 18 characters of
/// one of 3 bytes, so a line of this many bytes stays below.
constexpr size_t kLongestLine = 10000;
constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585: SentencePiece's mark of an unknown character
constexpr int64_t kLinesPerThread = 10000;

using Counts = std::unordered_map<std::string_view, int64_t>;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Spaces between words are the trainer's only bounds that it does not make itself, unless a symbol reaches over one.
bool trains_on_words(const SentencePieceOptions& options) {
  return options.type == "bpe" && std::ranges::none_of(options.user_symbols, [](const std::string& symbol) {
           return contains(symbol, " ") || contains(symbol, "\t") || contains(symbol, kSpaceMark);
         });
}

/// A line with the mark of a space stays whole: the trainer takes such marks for spaces, but those at a line's end it
/// removes.
void count(std::string_view line, Counts& counts) {
  if (contains(line, kSpaceMark)) {
    ++counts[line];
    return;
  }
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) ++counts[line.substr(begin, end - begin)];
    begin = end + 1;
  }
}

}  // namespace

bool sentencepiece_skips(std::string_view line) { return line.size() > kLongestLine || contains(line, kReserved); }

void TrainingText::count_words(const SentencePieceOptions& options, int threads) {
  if (counted_bytes > 0 || !trains_on_words(options)) return;
  const bool tabs_are_spaces = options.normalization.starts_with("nmt_");  // they normalise them so
  for (auto& line : lines) {
    if (!contains(line, "\t")) continue;
    if (!tabs_are_spaces) return;  // it would be read as the end of the word
    std::ranges::replace(line, '\t', ' ');
  }
  std::mutex mutex;
  Counts all;
  size_t bytes = 0;
  parallel_for(std::ssize(lines), kLinesPerThread, threads, [&](int64_t begin, int64_t end) {
    Counts own;
    size_t own_bytes = 0;
    for (int64_t i = begin; i < end; ++i) {
      const std::string& line = lines[static_cast<size_t>(i)];
      own_bytes += line.size();
      if (!sentencepiece_skips(line)) count(line, own);
    }
    const std::lock_guard lock(mutex);
    bytes += own_bytes;
    if (all.empty()) return all.swap(own);
    for (const auto& [word, number] : own) all[word] += number;
  });
  if (all.empty()) return;  // the trainer says why it can learn nothing
  std::vector<std::string> words;
  words.reserve(all.size());
  for (const auto& [word, number] : all) words.push_back(std::string(word) + '\t' + std::to_string(number));
  std::ranges::sort(words);  // the same text for any number of threads
  lines = std::move(words);
  counted_bytes = bytes;
}

}  // namespace nmt
