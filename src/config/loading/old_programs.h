#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/loading/yaml_reader.h"

namespace nmt {

/// A program of his whose model, training and decoding a file of flat names implies.
enum class OldProgram { kNone, k2019, k2017 };

/// What a name of Kyubyong's programs (2019, 2017) stands for here.
struct OldName {
  std::vector<Setting> settings;  ///< under the names of this toolkit; empty where there is no such option
  /// Settings that follow from it, for options that nothing else has set.
  std::vector<Setting> implied;
  std::string notice;  ///< one line, without the place
};

/// The reading of a setting whose section.name is no option, if it is a name of his: at the top level any of them, in a
/// section those that this toolkit calls otherwise. docs/kyubyong.md has the whole table. Where the file is that of a
/// program, what follows from a name there follows here too: the longest translation from maxlen2 or maxlen, ...
std::optional<OldName> read_old_name(const Setting& setting, OldProgram program = OldProgram::kNone);

/// The reading of a value that an option no longer has: run.naming trevett and prenorm, of version 0.2, are plain.
std::optional<OldName> read_old_value(const Setting& setting);

/// What the names of a file say about the program that it was written for.
struct OldProgramSettings {
  OldProgram program = OldProgram::kNone;
  /// Its model, training, decoding and the rest, for options that nothing sets: those of its preset, without the paths
  /// of text.
  std::vector<Setting> settings;
  std::string notice;  ///< one line; empty where no name is his
};

/// A file with flat names at its top level builds the model of the program whose names they are: of 2019 (d_model,
/// maxlen1, vocab_size, ...) or of 2017 (hidden_units, maxlen, min_cnt, ...). Names that both have (lr, num_blocks,
/// ...) say nothing, and neither does a --set. Names of both programs imply neither.
OldProgramSettings settings_of_old_program(const std::vector<Setting>& settings);

// Their presets, configs/kyubyong2019_iwslt16.yaml and configs/kyubyong2017_iwslt16.yaml, as they stood when the
// library was built.
const std::string& kyubyong2019_preset();
const std::string& kyubyong2017_preset();

}  // namespace nmt
