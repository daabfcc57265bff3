#pragma once

#include <string>

#include "nmt/configuration.h"
#include "nmt/log.h"
#include "nmt/stop_token.h"

NMT_API_BEGIN

/// What is prepared.
struct PrepareOptions {
  Configuration configuration;  ///< the section `data` counts
  bool overwrite = false;       ///< replaces prepared data that was made of other files or options
  StopToken stop = {};          ///< ends the work; nothing is written then
  LogSink log = {};             ///< hears of the files and of what was dropped
};

/// What became of it.
struct PrepareResult {
  std::string directory;    ///< data.dir: the prepared data
  bool up_to_date = false;  ///< it held exactly this data already: nothing was done
  std::string table;        ///< what was kept and dropped of each corpus and why, for people
};

/// nmt-prepro's work: reads and cleans parallel text, learns the vocabularies, writes the prepared data, all of it or
/// none. SentencePiece learns in a child process made by fork(). Throws UserError, MachineError, Stopped (then nothing
/// was written).
NMT_EXPORT PrepareResult prepare(const PrepareOptions& options);

NMT_API_END
