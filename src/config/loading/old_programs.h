#pragma once

#include <string>
#include <vector>

#include "config/loading/old_names.h"
#include "config/loading/yaml_reader.h"

namespace nmt {

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
