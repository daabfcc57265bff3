#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace nmt {

/// The place in a Config where the value of one option stands.
using Field = std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*, std::vector<int64_t>*,
                           std::vector<double>*, std::optional<int64_t>*, std::optional<double>*, NamedChoice*,
                           NamedChoices*, std::vector<TextSet>*, std::vector<TrainingStage>*>;

/// What a number may be: least <= value <= most, where an open end is left out. Whole numbers up to 2^53 are exact.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_is_open = false;
  bool max_is_open = false;
};

/// A rule for a text, or for each text of a list.
struct TextRule {
  std::string_view description;  ///< completes "must be ..."; empty: anything but the empty text
  bool (*accepts)(std::string_view text);
};

using Limits = std::variant<std::monostate, Range, TextRule>;

/// Whether a run that is resumed may have another value than before.
enum class OnResume { kFixed, kMayChange };

/// What an option has an effect on, as bits. A call is one of the first five; the others say more of it.
enum Work : unsigned {
  kOfLines = 1 << 0,     ///< texts and lines with all that is told of them
  kOfFile = 1 << 1,      ///< a file with one translation of each line, and no more
  kOfDocument = 1 << 2,  ///< a document with its markup
  kOfScores = 1 << 3,    ///< translations that are given and scored
  kOfService = 1 << 4,   ///< a service whose requests say the rest themselves
  kOfSamples = 1 << 5,   ///< samples are drawn, and their scores are not told
  kOfOneModel = 1 << 6,  ///< no ensemble
  kOfAll = (1 << 7) - 1,
  kOfSearch = kOfAll & ~kOfScores,
};

/// One option: a row of the table in option_table.cpp. The default stands in config.h.
struct Option {
  std::string_view section, name;
  Field (*field)(Config& config);
  Limits limits;
  std::string_view help;
  OnResume on_resume;
  unsigned used_by = kOfAll;  ///< bits of Work; see used_by.h

  std::string key() const { return std::string(section) + "." + std::string(name); }  ///< section.name
  Field of(Config& config) const { return field(config); }
};

struct Section {
  std::string_view name, help;
};

/// In the order in which they are written.
std::span<const Section> sections();
/// Every option, in the order in which they are written; those of a section stand together.
std::span<const Option> options();
/// nullptr where there is none.
const Option* find_option(std::string_view section, std::string_view name);

}  // namespace nmt
