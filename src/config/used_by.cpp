#include "config/used_by.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"

namespace nmt {
namespace {

constexpr unsigned kHow = kOfSamples | kOfOneModel, kLinesOnly = kOfLines | kHow,
                   kTold = kOfLines | kOfScores | kHow,    // of each translation
    kInFiles = kOfLines | kOfDocument | kOfScores | kHow;  // not of a service
constexpr bool kMisleads = true;

constexpr std::array kCallOptions{
    CallOption{"n_best", kLinesOnly},
    CallOption{"first_line", kLinesOnly | kOfFile},
    CallOption{"prefix", kLinesOnly | kOfFile, kMisleads},
    CallOption{"must", kLinesOnly | kOfFile, kMisleads},
    CallOption{"must_not", kLinesOnly | kOfFile, kMisleads},
    CallOption{"glossary", kOfSearch},
    CallOption{"keep_placeholders", kOfSearch},
    CallOption{"split_sentences", kOfSearch},
    CallOption{"no_split_sentences", kOfService | kOfDocument | kHow},
    CallOption{"copy_unknown", kOfSearch & ~kOfService},
    CallOption{"scores", kTold},
    CallOption{"token_scores", kTold},
    CallOption{"alignment", kTold},
    CallOption{"attention", kTold},
    // Files and forms of the command line.
    CallOption{"alignment_out", kTold, kMisleads},
    CallOption{"attention_out", kTold, kMisleads},
    CallOption{"format", kTold, kMisleads},
    CallOption{"input_format", kTold, kMisleads},
    CallOption{"text", kTold, kMisleads},
    CallOption{"score", kTold, kMisleads},
    CallOption{"score_corpus", kOfScores | kHow, kMisleads},
    CallOption{"shard", kTold, kMisleads},
    CallOption{"synthesize", kLinesOnly, kMisleads},
    CallOption{"buffer_lines", kTold},
    CallOption{"input", kInFiles, kMisleads},
    CallOption{"output", kInFiles, kMisleads},
    CallOption{"format_in", kOfDocument | kHow, kMisleads},
};

constexpr std::array kWorks{std::pair(kOfFile, "a file with one translation of each line"),
                            std::pair(kOfDocument, "a document"),
                            std::pair(kOfScores, "the score of a given translation"),
                            std::pair(kOfService, "a service"),
                            std::pair(kOfSamples, "the drawing of samples"),
                            std::pair(kOfOneModel, "a model that translates alone")};

/// The row of the option; what is in no table is used by everything.
CallOption row_of(std::string name) {
  if (name.starts_with("--")) name.erase(0, 2);
  std::ranges::replace(name, '-', '_');
  const auto* const found = std::ranges::find(kCallOptions, name, &CallOption::name);
  if (found != kCallOptions.end()) return *found;
  if (const Option* const row = find_option("decoding", name)) return {row->name, row->used_by};
  return {"", kOfAll};
}

}  // namespace

std::span<const CallOption> call_options() { return kCallOptions; }

std::string check_used(std::span<const std::string> given, unsigned work, Harmless harmless) {
  std::string warning;
  for (const auto& [bit, what] : kWorks) {
    std::vector<std::string> unused;
    bool refused = harmless == Harmless::kRefuse;
    for (const auto& name : given) {
      const CallOption option = row_of(name);
      if (!(work & bit) || (option.used_by & bit)) continue;
      unused.push_back(name);
      refused = refused || option.misleads;
    }
    if (unused.empty()) continue;
    const auto text =
        fmt::format("{}: {} {} no effect on it", what, fmt::join(unused, ", "), unused.size() == 1 ? "has" : "have");
    if (refused) throw Error(fmt::format("{}; leave {} out", text, unused.size() == 1 ? "it" : "them"));
    warning += (warning.empty() ? "" : "; ") + text;
  }
  return warning;
}

std::string flag_of(std::string_view name) {
  std::string flag = fmt::format("--{}", name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

}  // namespace nmt
