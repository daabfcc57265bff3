#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/process/log.h"
#include "config/config.h"
#include "report/records/evaluation_observer.h"

namespace nmt::compat {

/// run.naming: the result file of the program whose names the run's models have, in run.testdir, or in test/ (2019) or
/// results/ (2017) of the run directory; of several test sets in a folder of the set's name. Throws Error, before any
/// work, where two systems would have one file; an ensemble has none, which the log is told. nullptr for run.naming
/// plain. run and log must outlive it.
std::unique_ptr<EvaluationObserver> make_result_files(const Config& run, Logger& log);

/// Kyubyong's Transformer of 2019: DIRECTORY/NAMEB23.88 holds the translations, a line each, and behind them the line
/// "BLEU = 23.88, 54.0/30.7/18.6/11.7 (BP=0.974, ration=0.974)" of its scorer (multi-bleu-legacy of nmt-score).
/// Returns the file. Throws as write_file_atomically.
std::filesystem::path write_kyubyong2019_results(const std::filesystem::path& directory, const std::string& name,
                                                 const TranslatedText& text);

/// Kyubyong's Transformer of 2017: DIRECTORY/NAME is a results file with the figure of NLTK's corpus BLEU over the
/// pairs with more than three words on both sides. Returns the file.
std::filesystem::path write_kyubyong2017_results(const std::filesystem::path& directory, const std::string& name,
                                                 const TranslatedText& text);

/// The name of a model directory in result files: that of its folder, or, of the best model of a run, that of the
/// folder beside it that run.naming made of the same update; "best" if there is none.
std::string original_model_name(const std::filesystem::path& model_directory);

}  // namespace nmt::compat
