#include "data/own_text/text_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "text/pairs/corpus_reader.h"

namespace nmt {
namespace {

constexpr int64_t kLeastDocuments = 20;

uint64_t hash_of_line(const std::string& line) { return hash_of_text(strip(line)); }

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

}  // namespace

HeldOutSizes held_out_sizes(int64_t pairs) {
  const int64_t size = std::clamp<int64_t>(pairs / 20, 100, 2000);
  return {size, size};
}

OwnText::OwnText(CorpusFiles files, const ReadingOptions& reading) : files_(std::move(files)), reading_(reading) {
  for (const auto& [path, option] :
       {std::pair(files_.source, files_.source_option), std::pair(files_.target, files_.target_option)})
    if (!path.empty() && std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
      throw Error(fmt::format("{} {}: no regular file; it is read several times, so save the text in one", option,
                              path.string()));
  CorpusReader reader(files_, reading_);
  HashSet seen;
  for (TextPair pair; reader.next(pair);) {
    survey_.documents += is_separator(pair);
    if (!is_complete(pair)) continue;
    ++survey_.pairs;
    survey_.target_words += count_words(pair.target);
    survey_.target_characters += std::ssize(to_code_points(pair.target));
    for (const std::string& line : {pair.source, pair.target})
      if (const uint64_t hash = hash_of_line(line); !seen.insert(hash)) repeated_.insert(hash);
  }
}

bool OwnText::stands_once(const TextPair& pair) const {
  return !repeated_.contains(hash_of_line(pair.source)) && !repeated_.contains(hash_of_line(pair.target));
}

/// call(pair, place of its document or of itself between 0 and 1) for each pair that is complete.
template <typename Call>
void OwnText::for_each(const Call& call) const {
  CorpusReader reader(files_, reading_);
  const bool by_document = survey_.documents >= kLeastDocuments;
  double place = 0;
  bool begins = true;  // a document
  for (TextPair pair; reader.next(pair);) {
    begins = begins || !by_document || is_separator(pair);
    if (!is_complete(pair)) continue;
    if (std::exchange(begins, false)) place = place_of(hash_of_line(pair.source));
    call(pair, place);
  }
}

PartSizes OwnText::split(HeldOutSizes sizes, const std::filesystem::path& folder) const {
  int64_t candidates = 0;
  for_each([&](const TextPair& pair, double) { candidates += stands_once(pair); });
  if (candidates < 2 * (sizes.valid + sizes.test))
    throw Error(
        fmt::format("{} {}: only {} pairs have sides that stand in the text once, too few to hold out {}; give --valid "
                    "and --test",
                    files_.source_option, files_.source.string(), candidates, sizes.valid + sizes.test));
  const double test_below = static_cast<double>(sizes.test) / static_cast<double>(candidates);
  const double valid_below = test_below + static_cast<double>(sizes.valid) / static_cast<double>(candidates);
  const std::array<bool, 3> wanted{true, sizes.valid > 0, sizes.test > 0};
  std::array<std::array<std::unique_ptr<AtomicFile>, 2>, 3> outputs;
  for (size_t part = 0; part < wanted.size(); ++part)
    for (const TextSide side : {TextSide::kSource, TextSide::kTarget})
      if (wanted[part])
        outputs[part][side == TextSide::kTarget] =
            std::make_unique<AtomicFile>(folder / fmt::format("{}.{}", kTextParts[part], reading_.language(side)));
  PartSizes counts{};
  for_each([&](const TextPair& pair, double place) {
    const size_t drawn = place < test_below ? 2 : place < valid_below ? 1 : 0;
    const size_t part = stands_once(pair) ? drawn : 0;
    ++counts[part];
    outputs[part][0]->write(pair.source + '\n');
    outputs[part][1]->write(pair.target + '\n');
  });
  for (auto& sides : outputs)
    for (auto& file : sides)
      if (file) file->commit();
  return counts;
}

}  // namespace nmt
