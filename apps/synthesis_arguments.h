#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/line_reader.h"
#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "base/unicode.h"
#include "config/config.h"
#include "config/option_listing.h"
#include "data/synthetic_text.h"
#include "scoring/metrics/chrf.h"
#include "translation/line_stream.h"
#include "translation/model_set.h"
#include "translation/synthesis.h"

namespace nmt {

/// Sentence chrF of sacreBLEU, in percent.
inline double chrf_of(std::string_view translation, std::string_view reference) {
  static const scoring::Chrf metric;
  const auto scorer = metric.segment_scorer();
  std::vector<double> sums(static_cast<size_t>(metric.columns()));
  scorer->set_references({&reference, 1});
  scorer->statistics(translation, sums);
  return metric.score_of(sums).score;
}

/// The options of nmt-translate --synthesize.
struct SynthesisArguments {
  std::string output, side = "source", tag, nearest;
  double noise = 0;

  void add_to(CLI::App& app) {
    const std::string group = "Synthetic text";
    const auto add = [&](CLI::Option* option) { return option->needs("--synthesize")->group(group); };
    app.add_option("--synthesize", output,
                   "write pairs for training there, TSV of source and target, and FILE.json, which says how they were "
                   "made; nmt-prepro reads both")
        ->excludes("--text")
        ->excludes("--output")
        ->type_name("FILE")
        ->group(group);
    add(app.add_option("--synthetic-side", side,
                       "what the translations are: source (back-translation: the input is the target) or target")
            ->check(CLI::IsMember({"source", "target"}))
            ->capture_default_str());
    add(app.add_option("--tag", tag, "stands before each source, such as <BT>; name it in data.user_symbols")
            ->type_name("TEXT"));
    add(app.add_option(
               "--noise", noise,
               "share of the source's words that are dropped, and of those that become <blank>; all may move by "
               "up to 3 places")
            ->check(CLI::Range(0.0, 0.5))
            ->type_name("RATE"));
    add(app.add_option("--nearest", nearest,
                       "take of the --n-best translations of a line the one most like that line of FILE, by chrF")
            ->type_name("FILE"));
  }

  bool wanted() const { return !output.empty(); }

  /// Throws Error. ranks: of --n-best.
  void check(int64_t ranks) const {
    if (output == "-") throw Error("--synthesize -: needs a file; name one");
    if (nearest.empty() != (ranks == 1))
      throw Error(nearest.empty() ? "--synthesize: writes one translation of each line; leave out --n-best, or choose "
                                    "among them by --nearest"
                                  : "--nearest: chooses among several translations; give --n-best, such as 8");
    if (!tag.empty() && (strip(tag) != tag || tag.find_first_of("\t\n\r") != std::string::npos))
      throw Error("--tag: has white space at an end, or a tab or line end; leave it out");
  }

  SyntheticSide synthetic_side() const { return side == "source" ? SyntheticSide::kSource : SyntheticSide::kTarget; }

  /// first_line: lines of the text before the input. done: lines of the input whose pairs are there or are another
  /// part's.
  PairMaker maker(int64_t first_line, int64_t done, uint64_t seed) const {
    PairMaker pairs({.side = synthetic_side(), .tag = tag, .noise = noise, .seed = seed, .first_line = first_line});
    if (nearest.empty()) return pairs;
    LineReader references(nearest, kLongestLineToTranslate);
    for (int64_t i = 0; i < done && references.next(); ++i) continue;
    pairs.nearest_to(std::move(references), chrf_of);
    return pairs;
  }

  /// The SHA-256 of the files of text that the pairs are made of, by their names. A pipe is read once, and has none.
  nlohmann::json hashes(const std::string& input) const {
    auto all = nlohmann::json::object();
    for (const std::string& file : {input, nearest})
      if (std::filesystem::is_regular_file(file)) all[file] = sha256_of_file(file);
    return all;
  }

  /// Writes FILE.json and returns how many of FILE's pairs have no text. inputs: hashes(). lines: that were translated.
  /// command: of the program.
  int64_t write_record(const PairMaker& pairs, const ModelSet& models, const DecodingConfig& search,
                       const nlohmann::json& inputs, int64_t lines, std::span<const char* const> command) const {
    Config config;
    config.decoding = search;
    int64_t empty = 0;
    LineReader lines_written(output, kLongestLineToTranslate);
    while (const auto line = lines_written.next()) empty += *line == "\t";
    SyntheticText text{.side = synthetic_side(), .symbols = pairs.symbols(), .sha256 = sha256_of_file(output)};
    text.made = {{"program", "nmt " + version()},
                 {"command", std::vector<std::string>(command.begin(), command.end())},
                 {"models", models.description()},
                 {"inputs", inputs},
                 {"decoding", section_values(config, "decoding")},
                 {"seed", search.seed},
                 {"noise", noise},
                 {"lines", lines},
                 {"empty", empty}};
    text.write(output);
    return empty;
  }
};

}  // namespace nmt
