#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "base/process/user_files.h"
#include "base/strict_json.h"
#include "config/config.h"
#include "evaluation/evaluation_run.h"

namespace nmt {

/// What all systems did on one test set.
struct TestSetResults {
  TestSet test_set = {};
  std::vector<Evaluated> systems = {};
  std::optional<scoring::PairedTable> comparison = {};  ///< of several systems
};

/// Which files a user wants; an empty name: not that one.
struct EvaluationFiles {
  std::vector<std::string> hypotheses = {};  ///< a file of translations for each system
  std::string results = {};                  ///< of the first system: the form of format_results_file()
  std::string report = {};                   ///< JSON
  std::string attention = {};                ///< folder of write_attention()
};

/// Throws Error, before any work, where one of them is also another one, a file of the test sets or one of `inputs`
/// (configuration and models), MachineError or Error where it cannot be written. Makes the folder of attention.
void check_evaluation_files(const EvaluationFiles& files, const std::vector<TestSet>& test_sets,
                            std::vector<UserFile> inputs);

/// Writes them, each as a whole. Of several test sets the translations and results go to FILE.NAME for a set NAME.
/// machine: goes to the head of the report, see machine_report(). Throws as write_file_atomically.
void write_evaluation_files(const EvaluationFiles& files, const std::vector<TestSetResults>& results,
                            nlohmann::ordered_json machine);

/// Versions of toolkit and LibTorch, processor, device and threads.
nlohmann::ordered_json machine_report(const std::string& device);

/// The result file of the original program whose names the run's checkpoints have (run.naming), with the translations
/// of one system; of trevett its line in the log, "| Test Loss: 1.671 | Test PPL:   5.316 |"; nothing for a run with
/// plain names, or an ensemble.
void write_original_results(const Config& run, const System& system, const TestSet& test_set, const Evaluated& result,
                            Logger& log);

/// Before any work: makes the folders of those result files, as write_original_results() will need them. Throws Error
/// where that fails, a file cannot be written or two systems have one. An ensemble has none, which the log is told.
void check_original_results(const Config& run, const std::vector<System>& systems,
                            const std::vector<TestSet>& test_sets, Logger& log);

/// The sentences of a batch over which that line's loss is a mean; 0 where none is asked for.
int64_t original_loss_batch(const Config& run);

}  // namespace nmt
