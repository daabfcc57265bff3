#include "evaluation/evaluation_files.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/program_description.h"
#include "base/process/user_files.h"
#include "evaluation/evaluation.h"
#include "nn/device/device.h"
#include "scoring/command/results_table.h"

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
  for (const auto& test_set : test_sets)
    if (!files.attention.empty()) make_folder("--attention-out", folder_of(files.attention, test_set));
  for (const auto& output : outputs)
    if (!output.path.empty()) check_writable(output.path);
}

void write_evaluation_files(const EvaluationFiles& files, const std::vector<TestSetResults>& results, Json machine) {
  for (const auto& [test_set, systems, comparison] : results) {
    for (size_t i = 0; i < files.hypotheses.size(); ++i)
      write_file_atomically(file_of(files.hypotheses[i], test_set), joined_lines(systems[i].output.hypotheses));
    if (files.results.empty()) continue;
    const auto& first = systems.front();
    write_file_atomically(
        file_of(files.results, test_set),
        format_results_file(translated_text(test_set, first.output), fmt::format("{}", first.scores.front().score)));
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

namespace {

std::string text_of(const TestSetResults& results, int width) {
  std::string text;
  if (results.comparison) {
    text = format_results(*results.comparison, {.width = width});
    for (const auto& system : results.systems)
      if (system.loss) text += fmt::format("{}: {}\n", system.output.name, system.loss->format(width));
    return text;
  }
  const auto& only = results.systems.front();
  for (const auto& score : only.scores) text += score.format({.width = width}) + "\n";
  if (only.loss) text += only.loss->format(width) + "\n";
  return text;
}

/// One system: a row a test set, and below the table the signatures of its scores.
std::string table_of(const std::vector<TestSetResults>& results, int width) {
  const auto number = [](double value, int digits) { return fmt::format("{:.{}f}", value, digits); };
  const auto& first = results.front().systems.front();
  std::vector<std::vector<std::string>> rows = {{"test set", "sentences"}};
  for (const auto& score : first.scores) {
    rows[0].push_back(score.name);
    if (score.confidence) rows[0].push_back("95 %");
  }
  if (first.loss) rows[0].insert(rows[0].end(), {"loss", "perplexity"});
  for (const auto& [test_set, systems, comparison] : results) {
    auto& row = rows.emplace_back(std::vector{test_set.name, std::to_string(test_set.sources.size())});
    for (const auto& score : systems.front().scores) {
      row.push_back(number(score.score, width));
      if (const auto& found = score.confidence)
        row.push_back(fmt::format("{} +/- {}", number(found->mean, width), number(found->half_width, width)));
    }
    if (const auto& loss = systems.front().loss)
      row.insert(row.end(), {number(loss->loss, std::max(width, 4)), number(loss->perplexity(), std::max(width, 4))});
  }
  if (!results.front().test_set.target_language.empty()) {
    auto& row = rows.emplace_back(std::vector<std::string>{"mean", ""});
    for (size_t i = 0; i < first.scores.size(); ++i) {
      double sum = 0;
      for (const auto& result : results) sum += result.systems.front().scores[i].score;
      row.push_back(number(sum / static_cast<double>(results.size()), width));
      if (first.scores[i].confidence) row.emplace_back();
    }
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  for (const auto& score : first.scores)
    if (score.signature) text += fmt::format("{}|{}\n", score.name, score.signature->text());
  return text;
}

}  // namespace

std::string evaluation_text(const std::vector<TestSetResults>& results, int width) {
  if (results.size() > 1 && !results.front().comparison) return table_of(results, width);
  std::string text;
  for (const auto& result : results) {
    if (!result.test_set.name.empty()) text += result.test_set.name + ":\n";
    text += text_of(result, width);
  }
  return text;
}

}  // namespace nmt
