// nmt-eval: translates test sets with one model or several and scores the translations.

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/app.h"
#include "base/process/user_files.h"
#include "command_line.h"
#include "data/prepared_data.h"
#include "eval_arguments.h"
#include "evaluation/chosen_pairs.h"
#include "evaluation/contrastive.h"
#include "evaluation/evaluation_files.h"
#include "evaluation/evaluation_run.h"
#include "evaluation/rerank_tuning.h"
#include "evaluation/self_test.h"
#include "evaluation/similarity.h"
#include "observers.h"
#include "scoring/python/numpy_random.h"
#include "text/pairs/pair_reader.h"
#include "torch_version.h"

namespace nmt {
namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int run_self_test() {
  const auto checks = self_test();
  print(self_test_text(checks));
  const bool passed = std::ranges::all_of(checks, [](const SelfCheck& check) { return check.difference.empty(); });
  return passed ? kDone : kMachineFailed;
}

/// How test sets are read: as the run's configuration says, else with the languages of the model. One that is not there
/// is refused later.
ReadingOptions reading_of(const Config* run, const std::filesystem::path& model) {
  if (run) return reading_options(run->data);
  if (!std::filesystem::exists(model / "model.json")) return {};
  const auto codec = load_codec(model);
  return {.source_language = codec.options().source_language, .target_language = codec.options().target_language};
}

int print_similarity(const EvalArguments& arguments, const std::filesystem::path& directory) {
  at::set_num_threads(arguments.decoding.thread_count());
  const ModelSet models(arguments.decoding.model_set({directory}, {}));
  auto& model = dynamic_cast<TranslationModel&>(*models.first().model);
  print(similarity_text(
      similarity(model, models.first().codec, arguments.similarity.front(), arguments.similarity.back())));
  return kDone;
}

int print_contrastive(const EvalArguments& arguments, const std::vector<System>& systems) {
  const auto items = read_contrastive(arguments.contrastive, arguments.categories);
  at::set_num_threads(arguments.decoding.thread_count());
  for (const auto& system : systems) {
    auto wanted = arguments.decoding.model_set(system.directories, arguments.weights);
    wanted.decoding = system.decoding;
    const ModelSet models(wanted);
    const Translator translator(models.members(), models.options());
    try {
      const auto accuracy = contrastive_accuracy(items, translator, {.stopped = [] { return stop_signal() != 0; }});
      if (systems.size() > 1) print(system.name() + ": ");
      print(accuracy.format(arguments.width));
    } catch (const TranslationStopped&) {
      return stop_exit_code();
    }
  }
  return kDone;
}

int tune_rerank(const EvalArguments& arguments, const System& system, const std::vector<TestSet>& test_sets) {
  if (test_sets.size() > 1)
    throw Error(fmt::format("--tune-rerank: tunes on one set, the configuration has {}; give --source and --reference",
                            test_sets.size()));
  at::set_num_threads(arguments.decoding.thread_count());
  auto wanted = arguments.decoding.model_set(system.directories, arguments.weights);
  wanted.decoding = system.decoding;
  const ModelSet models(wanted);
  try {
    const auto results =
        tune_reranking(models, test_sets.front(), {arguments.tune_rerank.begin(), arguments.tune_rerank.end()},
                       arguments.decoding.device, {.stopped = [] { return stop_signal() != 0; }});
    print(evaluation_text({results}, arguments.width));
  } catch (const TranslationStopped&) {
    return stop_exit_code();
  }
  return kDone;
}

void announce(const std::vector<System>& systems, const std::vector<TestSet>& test_sets, EvaluationObserver& observer) {
  std::vector<EvaluationObserver::Models> models;
  for (const auto& system : systems) models.push_back(system.directories);
  std::vector<std::string> names;
  for (const auto& test_set : test_sets) names.push_back(test_set.name);
  observer.on_start(models, names);
}

int run(int argc, char** argv) {
  CLI::App app("Translates a test set and prints BLEU (13a) and chrF2 as sacreBLEU does.", "nmt-eval");
  app.set_version_flag("--version", program_version("nmt-eval", torch_and_kernels()));
  EvalArguments arguments;
  arguments.add_to(app);
  show_examples(app, {"nmt-eval -c mine.yaml", "nmt-eval -m runs/mine/best --source test.de --reference test.en"});
  if (!parse_command_line(app, argc, argv)) return kDone;
  if (!arguments.tune_rerank.empty() && app.count("--split") == 0) arguments.split = "valid";
  arguments.check(app);
  if (arguments.self_test) return run_self_test();
  catch_stop_signals();
  const auto log = make_logger("nmt-eval");
  const unsigned work = kOfLines | (arguments.decoding.flags.draws_samples() ? kOfSamples : Work{});
  if (const auto unused = check_used(given_options(app), work, Harmless::kWarn); !unused.empty())
    log->warn("{}", unused);
  std::optional<Config> config;
  if (!arguments.config_file.empty()) config = arguments.load_run(*log);
  if (!arguments.print_config.empty()) {
    print_config(*config, arguments.print_config);
    return kDone;
  }
  const Config* run_config = config ? &*config : nullptr;
  const auto systems = systems_of({.models = arguments.models,
                                   .ensemble = arguments.ensemble,
                                   .run = run_config,
                                   .config_file = arguments.config_file});
  if (!arguments.similarity.empty()) return print_similarity(arguments, systems.front().directories.front());
  if (!arguments.contrastive.empty()) return print_contrastive(arguments, systems);
  auto test_sets = arguments.test_sets(reading_of(run_config, systems.front().directories.front()), run_config, *log);
  if (run_config && pair_choice(*run_config).leaves_out()) {
    const auto choice = pair_choice(arguments.decoding.flags.applied_to(*run_config));  // --batch-size counts
    test_sets = chosen_pairs(std::move(test_sets), load_codec(systems.front().directories.front()), choice, *log);
  }
  if (!arguments.tune_rerank.empty()) return tune_rerank(arguments, systems.front(), test_sets);
  if (arguments.robust) test_sets = robustness_sets(test_sets);
  arguments.check(test_sets);
  if (arguments.confidence || systems.size() > 1) scoring::Seed::from_environment();  // refused before the work
  std::vector<UserFile> inputs{{"--adapter", arguments.decoding.adapter}};
  for (const auto& file : arguments.config_files) inputs.push_back({"--config", file});
  for (const auto& system : systems)
    for (const auto& model : system.directories) append_files_of_folder("--model", model, inputs);
  check_evaluation_files(arguments.files, test_sets, std::move(inputs));
  const bool of_run = run_config && arguments.of_configured_test_sets();
  const auto observer = of_run ? evaluation_observer(*run_config, *log) : nullptr;
  if (observer) announce(systems, test_sets, *observer);
  at::set_num_threads(arguments.decoding.thread_count());

  auto options = arguments.options();
  if (of_run) options.languages = {run_config->data.source_language, run_config->data.target_language};
  options.should_stop = [] { return stop_signal() != 0; };
  EvaluationRun evaluation(std::move(options), *log);
  std::vector<TestSetResults> results;
  for (const auto& test_set : test_sets) results.push_back({.test_set = test_set});
  for (const auto& system : systems) {
    auto evaluated = evaluation.evaluate(system, test_sets);
    if (!evaluated) return stop_exit_code();
    for (size_t i = 0; i < results.size(); ++i) results[i].systems.push_back(std::move((*evaluated)[i]));
  }
  for (auto& result : results)
    if (systems.size() > 1) result.comparison = evaluation.compared(result.systems, result.test_set);
  print(evaluation_text(results, arguments.width));  // first: a disk that is full takes no scores away
  write_evaluation_files(arguments.files, results, machine_report(arguments.decoding.device));
  for (const auto& [test_set, evaluated, comparison] : results)
    for (size_t i = 0; observer && i < systems.size(); ++i)
      observer->on_result(systems[i].directories, test_set.name, translated_text(test_set, evaluated[i].output));
  return kDone;
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("nmt-eval", [&] { return nmt::run(argc, argv); });
}
