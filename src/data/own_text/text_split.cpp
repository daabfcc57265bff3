#include "data/own_text/text_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/files/file.h"
#include "base/unicode.h"
#include "text/corpus/hash_set.h"
#include "text/pairs/corpus_reader.h"

namespace nmt {
namespace {

constexpr int64_t kLeastDocuments = 20;

bool is_separator(const TextPair& pair) { return strip(pair.source).empty() && strip(pair.target).empty(); }

bool is_complete(const TextPair& pair) { return !strip(pair.source).empty() && !strip(pair.target).empty(); }

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  bool in_word = false;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t';
    words += !space && !in_word;
    in_word = !space;
  }
  return words;
}

/// Where a hash lies between 0 and 1. hash_of_text spreads its low bits best: they are mixed once more.
double place_of(uint64_t hash) { return static_cast<double>((hash * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53; }

/// Goes through the text again and again; each time every pair meets the same part.
class Splitter {
 public:
  Splitter(const CorpusFiles& files, const ReadingOptions& reading, const TextSurvey& survey, HeldOutSizes sizes)
      : files_(files), reading_(reading), by_document_(survey.documents >= kLeastDocuments) {
    const auto pairs = static_cast<double>(std::max<int64_t>(1, survey.pairs));
    test_below_ = static_cast<double>(sizes.test) / pairs;
    valid_below_ = test_below_ + static_cast<double>(sizes.valid) / pairs;
  }

  /// call(part, pair, hash of the source, hash of the target) for each pair that is complete.
  template <typename Call>
  void for_each(const Call& call) const {
    CorpusReader reader(files_, reading_);
    TextPair pair;
    TextPart part = TextPart::kTrain;
    bool begins = true;  // a document
    while (reader.next(pair)) {
      begins = begins || !by_document_ || is_separator(pair);
      if (!is_complete(pair)) continue;
      const uint64_t source = hash_of_text(pair.source);
      if (std::exchange(begins, false)) part = part_of(source);
      call(part, pair, source, hash_of_text(pair.target));
    }
  }

 private:
  TextPart part_of(uint64_t hash) const {
    const double place = place_of(hash);
    return place < test_below_ ? TextPart::kTest : place < valid_below_ ? TextPart::kValid : TextPart::kTrain;
  }

  const CorpusFiles& files_;
  const ReadingOptions& reading_;
  bool by_document_;
  double test_below_ = 0, valid_below_ = 0;
};

}  // namespace

TextSurvey survey_text(const std::vector<CorpusFiles>& files, const ReadingOptions& reading) {
  TextSurvey survey{.documents = 1};
  for (const CorpusFiles& corpus : files) {
    CorpusReader reader(corpus, reading);
    TextPair pair;
    while (reader.next(pair)) {
      survey.documents += is_separator(pair);
      if (!is_complete(pair)) continue;
      ++survey.pairs;
      survey.source_characters += count_code_points(pair.source);
      survey.target_characters += count_code_points(pair.target);
      survey.target_words += count_words(pair.target);
    }
  }
  return survey;
}

HeldOutSizes held_out_sizes(int64_t pairs) {
  const int64_t size = std::clamp<int64_t>(pairs / 20, 100, 2000);
  return {size, size};
}

SplitCounts split_text(const CorpusFiles& files, const ReadingOptions& reading, const TextSurvey& survey,
                       HeldOutSizes sizes, const std::filesystem::path& folder) {
  const Splitter splitter(files, reading, survey, sizes);
  HashSet held_out, shared;  // sides of held-out pairs, and those of them that the training text has
  splitter.for_each([&](TextPart part, const TextPair&, uint64_t source, uint64_t target) {
    if (part != TextPart::kTrain) held_out.insert(source), held_out.insert(target);
  });
  splitter.for_each([&](TextPart part, const TextPair&, uint64_t source, uint64_t target) {
    if (part != TextPart::kTrain) return;
    for (const uint64_t side : {source, target})
      if (held_out.contains(side)) shared.insert(side);
  });
  const std::array<bool, 3> wanted{true, sizes.valid > 0, sizes.test > 0};
  std::array<std::array<std::unique_ptr<AtomicFile>, 2>, 3> outputs;
  for (size_t part = 0; part < wanted.size(); ++part) {
    if (!wanted[part]) continue;
    for (const TextSide side : {TextSide::kSource, TextSide::kTarget})
      outputs[part][side == TextSide::kTarget] =
          std::make_unique<AtomicFile>(folder / fmt::format("{}.{}", kTextParts[part], reading.language(side)));
  }
  SplitCounts counts;
  splitter.for_each([&](TextPart part, const TextPair& pair, uint64_t source, uint64_t target) {
    if (part != TextPart::kTrain && (shared.contains(source) || shared.contains(target))) {
      ++counts.left_out;
      return;
    }
    const auto index = static_cast<size_t>(part);
    ++counts.pairs[index];
    outputs[index][0]->write(pair.source + '\n');
    outputs[index][1]->write(pair.target + '\n');
  });
  for (auto& sides : outputs)
    for (auto& file : sides)
      if (file) file->commit();
  return counts;
}

}  // namespace nmt
