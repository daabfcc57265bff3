#include "evaluation/evaluation_files.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/user_files.h"
#include "base/process/version.h"
#include "evaluation/evaluation_report.h"
#include "nn/device/device.h"
#include "text/normalization.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

using Json = nlohmann::ordered_json;

std::string joined_lines(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string file_of(const std::string& file, const TestSet& test_set) {
  return test_set.name.empty() ? file : fmt::format("{}.{}", file, test_set.name);
}

fs::path folder_of(const fs::path& folder, const TestSet& test_set) {
  return test_set.name.empty() ? folder : folder / test_set.name;
}

Json report_of_set(const TestSetResults& results) {
  Json report = {{"test_set", report_of(results.test_set)}, {"systems", Json::array()}};
  for (const auto& system : results.systems) report["systems"].push_back(system.report);
  if (results.comparison) report["comparison"] = report_of(*results.comparison);
  return report;
}

void log_test_loss(double loss, Logger& log) {
  log.info("| Test Loss: {:.3f} | Test PPL: {:7.3f} |", loss, std::exp(loss));
}

bool has_result_files(const Config& run) {
  return run.run.naming == RunNaming::kKyubyong2019 || run.run.naming == RunNaming::kKyubyong2017;
}

/// The folder of those of one test set.
fs::path original_folder(const Config& run, const TestSet& test_set) {
  const char* own = run.run.naming == RunNaming::kKyubyong2019 ? "test" : "results";
  return folder_of(run.run.testdir.empty() ? fs::path(run.run.dir) / own : fs::path(run.run.testdir), test_set);
}

/// Sources and references as the model is given them: so the program of 2017 prints and scores them.
TranslatedText normalised(TranslatedText text, const DataConfig& data) {
  const Normalization rules{
      .nfkc = data.nfkc, .lowercase = data.lowercase, .latin_only = data.characters == CharacterSet::kLatin};
  for (auto* lines : {&text.sources, &text.references})
    for (auto& line : *lines) line = normalize(line, rules);
  return text;
}

}  // namespace

void check_evaluation_files(const EvaluationFiles& files, const std::vector<TestSet>& test_sets,
                            std::vector<UserFile> inputs) {
  const auto refuse_stream = [](const char* option, const std::string& file) {
    if (file == "-") throw Error(fmt::format("{} -: standard output has the scores; name a file", option));
  };
  refuse_stream("--report", files.report);
  refuse_stream("--results-file", files.results);
  for (const auto& file : files.hypotheses) refuse_stream("--hypotheses-out", file);
  std::vector<UserFile> outputs = {{"--report", files.report}};
  const auto add_output = [&](const char* option, const std::string& file, const TestSet& test_set) {
    outputs.push_back({option, file.empty() ? "" : file_of(file, test_set)});
  };
  for (const auto& test_set : test_sets) {
    inputs.push_back({"--source", test_set.source_file});
    for (const auto& file : test_set.reference_files) inputs.push_back({"--reference", file});
    for (const auto& file : files.hypotheses) add_output("--hypotheses-out", file, test_set);
    add_output("--results-file", files.results, test_set);
  }
  check_outputs(inputs, outputs);
  std::vector<UserFile> folders;
  for (const auto& test_set : test_sets)
    if (!files.attention.empty()) folders.push_back({"--attention-out", folder_of(files.attention, test_set)});
  for (const auto& folder : folders) {
    check_numbered_outputs(folder, inputs);
    check_numbered_outputs(folder, outputs);
  }
  for (const auto& folder : folders) make_folder(folder.option, folder.path);
  for (const auto& output : outputs)
    if (!output.path.empty()) check_writable(output.path);
}

void write_evaluation_files(const EvaluationFiles& files, const std::vector<TestSetResults>& results, Json machine) {
  for (const auto& [test_set, systems, comparison] : results) {
    for (size_t i = 0; i < files.hypotheses.size(); ++i)
      write_file_atomically(file_of(files.hypotheses[i], test_set), joined_lines(systems[i].output.hypotheses));
    if (files.results.empty()) continue;
    const auto& first = systems.front();
    write_file_atomically(file_of(files.results, test_set),
                          format_results_file(translated_text(test_set, first.output), first.scores.front().score));
  }
  if (files.report.empty()) return;
  Json report = std::move(machine);
  if (results.size() == 1) {
    report.update(report_of_set(results.front()));
  } else {
    report["test_sets"] = Json::array();
    for (const auto& result : results) report["test_sets"].push_back(report_of_set(result));
  }
  write_file_atomically(files.report, report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json machine_report(const std::string& device) {
  return {{"toolkit", "nmt " + version()},
          {"libtorch", TORCH_VERSION},
          {"processor", cpu_name()},
          {"device", resolve_device(device).str()},
          {"threads", at::get_num_threads()}};
}

int64_t original_loss_batch(const Config& run) {
  const bool asked = run.run.naming == RunNaming::kTrevett && run.training.batch_type == BatchType::kSentences;
  return asked ? run.training.batch_size : 0;
}

void check_original_results(const Config& run, const std::vector<System>& systems,
                            const std::vector<TestSet>& test_sets, Logger& log) {
  if (!has_result_files(run)) return;
  std::map<std::string, std::string> systems_by_name;
  for (const auto& system : systems) {
    if (system.directories.size() > 1) {
      log.warn("run.naming {}: an ensemble has no result file; it has the name of one model", run.run.naming.name());
      continue;
    }
    const auto [other, is_new] =
        systems_by_name.emplace(original_model_name(system.directories.front()), system.name());
    if (!is_new)
      throw Error(
          fmt::format("--model {}: its result file (run.naming {}) would be that of {}; evaluate them one by "
                      "one with another run.testdir, or rename a folder",
                      system.name(), run.run.naming.name(), other->second));
  }
  for (const auto& test_set : test_sets) {
    if (systems_by_name.empty()) break;
    const auto folder = original_folder(run, test_set);
    make_folder("run.testdir", folder);
    const char* score = run.run.naming == RunNaming::kKyubyong2019 ? "B0" : "";  // behind the name, not known yet
    for (const auto& [name, system] : systems_by_name) check_writable(folder / (name + score));
  }
}

void write_original_results(const Config& run, const System& system, const TestSet& test_set, const Evaluated& result,
                            Logger& log) {
  if (system.directories.size() > 1) return;
  const auto text = translated_text(test_set, result.output);
  const auto name = original_model_name(system.directories.front());
  fs::path written;
  const auto folder = has_result_files(run) ? original_folder(run, test_set) : fs::path();
  if (has_result_files(run)) make_folder("run.testdir", folder);
  switch (run.run.naming) {
    case RunNaming::kKyubyong2019:
      written = write_kyubyong2019_results(folder, name, text);
      break;
    case RunNaming::kKyubyong2017:
      written = write_kyubyong2017_results(folder, name, normalised(text, run.data));
      break;
    case RunNaming::kTrevett:
      if (result.loss) log_test_loss(result.loss->batch_loss.value_or(result.loss->loss), log);
      return;
    case RunNaming::kPlain:
    case RunNaming::kPrenorm:
      return;
  }
  log.info("{} is written", written.string());
}

}  // namespace nmt
