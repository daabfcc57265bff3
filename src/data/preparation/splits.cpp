#include "data/preparation/splits.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/process/progress.h"
#include "config/text_sets.h"

namespace nmt {

std::vector<Split> list_splits(const DataConfig& data) {
  std::vector<Split> splits{{.name = "train", .corpora = {}}};
  for (size_t i = 0; i < data.train1.size(); ++i) {
    splits[0].corpora.push_back({data.train1[i], data.train2[i], "data.train1", "data.train2"});
  }
  for (const auto& path : data.train_tsv) splits[0].corpora.push_back({path, "", "data.train_tsv", ""});
  if (splits[0].corpora.empty()) {
    throw Error("data.train1, data.train2: no training text is set; name the files, or data.train_tsv");
  }
  for (const auto& [kind, sets] : {std::pair("eval", validation_sets(data)), std::pair("test", test_sets(data))})
    for (const auto& [split, text, source_option, target_option] : sets)
      splits.push_back({.name = split,
                        .corpora = {{text.source, text.target, source_option, target_option}},
                        .set = text.name.empty() ? "" : fmt::format("{} {}", kind, text.name)});
  return splits;
}

std::string Split::row_name(size_t corpus) const {
  const std::string files = corpora[corpus].name();
  return set.empty() ? files : fmt::format("{}: {}", set, files);
}

std::string nothing_left(const std::vector<CleaningRow>& rows) {
  CleaningCounts all;
  for (const auto& row : rows) all += row.counts;
  return fmt::format(
      "data.train1: no pair of the training text is left of {} read (empty {}, source too long {}, target "
      "too long {}, length ratio {}, duplicate {}, in test set {}); loosen the rules of the data section",
      all.read, all.of(Verdict::kEmpty), all.of(Verdict::kSourceTooLong), all.of(Verdict::kTargetTooLong),
      all.of(Verdict::kLengthRatio), all.of(Verdict::kDuplicate), all.of(Verdict::kTestOverlap));
}

namespace {

/// In percent.
double share(int64_t unknown, int64_t pieces) {
  return pieces == 0 ? 0.0 : 100.0 * static_cast<double>(unknown) / static_cast<double>(pieces);
}

}  // namespace

std::vector<std::string> unknown_warnings(const SplitRecord& split) {
  constexpr double kUsual = 5;
  std::vector<std::string> warnings;
  for (const auto& [side, unknown, pieces] : {std::tuple("source", split.source_unknown, split.source_pieces),
                                              std::tuple("target", split.target_unknown, split.target_pieces)})
    if (const double percent = share(unknown, pieces); percent > kUsual)
      warnings.push_back(
          fmt::format("{}: {:.1f} % of the {}'s pieces are <unk>; check that it is text of the "
                      "vocabulary's language",
                      split.name, percent, side));
  return warnings;
}

std::string split_summary(const SplitRecord& split) {
  return fmt::format("{}: {} pairs, {} + {} pieces, of which <unk> {:.3f} % + {:.3f} %", split.name,
                     with_commas(split.pairs), with_commas(split.source_pieces), with_commas(split.target_pieces),
                     share(split.source_unknown, split.source_pieces),
                     share(split.target_unknown, split.target_pieces));
}

}  // namespace nmt
