#include "translation/synthesis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {

std::string with_noise(std::string_view text, double rate, CounterRandom random) {
  constexpr double kReach = 4;  // keys that are less than this apart change places: by 3 at most
  std::vector<std::string_view> words;
  split_words(text, words);
  if (words.empty()) return "";
  const auto spared = random.below(words.size());
  std::vector<std::pair<double, std::string_view>> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const double fate = random.uniform(), place = static_cast<double>(i) + kReach * random.uniform();
    if (fate >= rate || i == spared) kept.emplace_back(place, fate >= rate && fate < 2 * rate ? kBlank : words[i]);
  }
  std::ranges::stable_sort(kept, {}, &std::pair<double, std::string_view>::first);
  std::string noisy;
  for (const auto& [place, word] : kept) noisy += fmt::format("{}{}", noisy.empty() ? "" : " ", word);
  return noisy;
}

PairMaker& PairMaker::nearest_to(LineReader references, Likeness likeness) {
  references_.emplace(std::move(references));
  likeness_ = std::move(likeness);
  return *this;
}

std::string PairMaker::chosen(const OutputItem& item) {
  if (!references_) return item.translation.text;
  const auto reference = references_->next();
  if (!reference)
    throw Error(fmt::format("--nearest {}: ends before line {} of the input; align the files",
                            references_->path().string(), item.number));
  const std::string wanted = repair_utf8(*reference);
  std::string best = item.translation.text;
  double most = -1;
  for (const auto& alternative : item.translation.alternatives)
    if (const double likeness = likeness_(alternative.text, wanted); likeness > most) {
      most = likeness;
      best = alternative.text;
    }
  return best;
}

std::string PairMaker::line(const OutputItem& item) {
  constexpr uint64_t kOfNoise = 0x6e6f697365;
  const std::string translation = in_one_column(chosen(item));
  if (translation.empty()) return "\t\n";
  const std::string own = in_one_column(item.source);
  const bool back = options_.side == SyntheticSide::kSource;
  std::string source = back ? translation : own;
  if (options_.noise > 0)
    source =
        with_noise(source, options_.noise,
                   CounterRandom({options_.seed, static_cast<uint64_t>(options_.first_line + item.number), kOfNoise}));
  if (!options_.tag.empty()) source = options_.tag + " " + source;
  return source + "\t" + (back ? own : translation) + "\n";
}

void PairMaker::finish() {
  if (references_ && references_->next())
    throw Error(
        fmt::format("--nearest {}: has more lines than the input; align the files", references_->path().string()));
}

std::vector<std::string> PairMaker::symbols() const {
  std::vector<std::string> symbols;
  if (!options_.tag.empty()) symbols.push_back(options_.tag);
  if (options_.noise > 0) symbols.emplace_back(kBlank);
  return symbols;
}

}  // namespace nmt
