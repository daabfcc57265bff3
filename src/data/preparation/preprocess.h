#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "data/preparation/data_folder.h"
#include "data/preparation/prepare_observer.h"
#include "text/corpus/language_identifier.h"

namespace nmt {

struct PreprocessOptions {
  Overwrite overwrite = Overwrite::kRefuse;
  std::vector<std::filesystem::path> config_files = {};      ///< of which `config` was read: never replaced
  std::function<bool()> should_stop = [] { return false; };  ///< asked several times a second
  const PrepareObserver* observer = nullptr;                 ///< null: nobody
  const LanguageIdentifier* languages = nullptr;             ///< for data.clean; null: none
};

enum class PrepareOutcome {
  kWritten,
  kUpToDate,  ///< the folder holds exactly this data already
  kStopped,   ///< should_stop said so: nothing was changed
};

struct PreprocessResult {
  PrepareOutcome outcome = PrepareOutcome::kWritten;
  std::string table;  ///< what was kept and dropped and why; empty if stopped
};

/// From raw text to the prepared data in config.data.dir, all of it or none: checks and cleans the corpora, learns the
/// vocabularies, or takes the given ones, and encodes every split. Memory does not grow with the text, but for the
/// lines that SentencePiece learns from (data.spm_sentences), or the different words that are counted. To find
/// duplicates it takes up to 0.4 GB, near duplicates as much again, and beyond 22 million pairs a file of 8 bytes each
/// in the folder; each thread remembers some 6 MB of words a vocabulary; a lexicon (data.shortlist) takes what
/// train_lexicon() says. The result is a function of the files, the data section and the seed. Throws Error,
/// MachineError; Error also where config.data.dir holds what would be lost (see DataFolder).
PreprocessResult prepare_data(const Config& config, const PreprocessOptions& options, Logger& log);

}  // namespace nmt
