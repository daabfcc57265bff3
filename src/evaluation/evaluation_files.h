#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "base/process/user_files.h"
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

/// What nmt-eval prints: the scores of one system a line each, as sacreBLEU prints them, and its loss; of several
/// systems the table of the comparison and the loss of each. Of several test sets a row each, and the mean of
/// the scores where they are into several languages (TestSet::target_language); with several systems the name of each
/// set above its table. width: digits after the point. Ends with a line end.
std::string evaluation_text(const std::vector<TestSetResults>& results, int width);

}  // namespace nmt
