#include "data/preparation/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/process/log.h"
#include "config/config.h"
#include "config/languages.h"
#include "text/language_code.h"

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
  for (size_t corpus = 0; corpus < splits[0].corpora.size(); ++corpus)
    splits[0].data.push_back(of_corpus(data, corpus));
  for (const auto& [kind, sets] : {std::pair("eval", validation_sets(data)), std::pair("test", test_sets(data))})
    for (const auto& [split, text, source_option, target_option] : sets)
      splits.push_back({.name = split,
                        .corpora = {{text.source, text.target, source_option, target_option}},
                        .data = {of_set(data, text)},
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
  std::string dropped;
  for (int i = 1; i < kVerdicts; ++i)
    if (const auto verdict = static_cast<Verdict>(i); verdict < Verdict::kContent || all.of(verdict) > 0)
      dropped += fmt::format("{}{} {}", dropped.empty() ? "" : ", ", name_of_verdict(verdict), all.of(verdict));
  std::ranges::replace(dropped, '_', ' ');
  return fmt::format(
      "data.train1: no pair of the training text is left of {} read ({}); loosen the rules of the data section",
      all.read, dropped);
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

std::vector<InputFile> list_input_files(const Config& config) {
  const DataConfig& data = config.data;
  std::vector<InputFile> inputs;
  const auto add = [&](const char* option, const std::string& path) {
    if (path.empty()) return;
    try {
      open_for_reading(path, UnwrittenPipe::kReturn);
    } catch (const Error& error) {
      throw Error(fmt::format("{} {}", option, error.what()));
    }
    if (!std::filesystem::is_regular_file(path)) {
      throw Error(fmt::format("{} {}: a pipe or device; name a file, it is read more than once", option, path));
    }
    const auto time = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(path)).time_since_epoch();
    inputs.push_back({.option = option,
                      .path = path,
                      .size = static_cast<int64_t>(std::filesystem::file_size(path)),
                      .modified = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count(),
                      .sha256 = ""});
  };
  for (const auto& path : data.train1) add("data.train1", path);
  for (const auto& path : data.train2) add("data.train2", path);
  for (const auto& path : data.train_tsv) add("data.train_tsv", path);
  for (const auto& sets : {validation_sets(data), test_sets(data)})
    for (const auto& set : sets) {
      add(set.source_option.c_str(), set.text.source);
      add(set.target_option.c_str(), set.text.target);
    }
  add("data.spm_model1", data.spm_model1);
  add("data.spm_model2", data.spm_model2);
  add("data.vocabulary1", data.vocabulary1);
  add("data.vocabulary2", data.vocabulary2);
  return inputs;
}

std::vector<std::string> input_warnings(const DataConfig& data) {
  std::vector<std::string> warnings;
  for (const auto& [option, code] : {std::pair("data.source_language", data.source_language),
                                     std::pair("data.target_language", data.target_language)})
    if (!may_be_iso_639(code))
      warnings.push_back(fmt::format(
          "{}: '{}' is no code of ISO 639, such as de; it is taken as a name that means no language", option, code));
  return warnings;
}

}  // namespace nmt
