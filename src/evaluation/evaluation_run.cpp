#include "evaluation/evaluation_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/log.h"
#include "evaluation/evaluation.h"
#include "models/search/torch_step.h"
#include "report/pictures/attention_picture.h"
#include "text/language_code.h"
#include "translation/attention_grids.h"
#include "translation/line_stream.h"
#include "translation/lines/source_parts.h"

namespace nmt {

void write_attention(const std::filesystem::path& folder, std::span<const int64_t> sentences, const ReadyModel& loaded,
                     const TextCodec& codec, const TestSet& test_set, const std::vector<std::string>& hypotheses) {
  std::filesystem::create_directories(folder);
  for (const int64_t number : sentences) {
    const auto grids = attention_grids(*loaded.model, codec, codec.encode_source(test_set.sources[number - 1]),
                                       codec.tagged_target(codec.encode_target(hypotheses[number - 1])));
    const auto* picture = last_cross_attention(grids);
    if (!picture) throw Error(fmt::format("{}: this model has no attention to draw", loaded.directory.string()));
    write_file_atomically(folder / fmt::format("{}.svg", number), attention_svg(*picture));
    write_file_atomically(folder / fmt::format("{}.json", number), attention_json(grids).dump() + "\n");
  }
}

}  // namespace nmt

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr int64_t kResamples = 1000;

/// This program has no models but those of LibTorch.
TranslationModel& torch_model(const ModelSet& models) { return dynamic_cast<TranslationModel&>(*models.first().model); }

/// decoding.target_language: the set's own, or what is asked for.
std::string language_of(const TestSet& test_set, const ModelSet& models) {
  return test_set.target_language.empty() ? models.options().search.target_language : test_set.target_language;
}

}  // namespace

std::string System::name() const {
  std::string joined;
  for (const auto& directory : directories) joined += (joined.empty() ? "" : " + ") + directory.string();
  return joined;
}

std::vector<System> systems_of(const SystemChoice& choice) {
  const auto decoding = choice.run ? std::optional(choice.run->decoding) : std::nullopt;
  if (choice.ensemble) return {{{choice.models.begin(), choice.models.end()}, decoding}};
  std::vector<System> systems;
  for (const auto& model : choice.models) systems.push_back({{model}, decoding});
  if (!systems.empty()) return systems;
  if (!choice.run) throw Error("no model is named; give -m DIR");
  const fs::path best = fs::path(choice.run->run.dir) / "best";
  if (!fs::exists(best)) {
    throw Error(
        fmt::format("{}: the run has no validated model yet; train it (nmt-train -c {}) or name a model with -m",
                    best.string(), choice.config_file));
  }
  return {{{best}, decoding}};
}

std::optional<std::vector<Evaluated>> EvaluationRun::evaluate(const System& system,
                                                              const std::vector<TestSet>& test_sets) {
  auto wanted = options_.models;
  wanted.directories = system.directories;
  wanted.decoding = system.decoding;
  const ModelSet models(wanted);
  warn_of_languages(models.first());
  if (metrics_.empty()) {
    const auto& asked = models.options().search.target_language;
    metrics_ =
        evaluation_metrics(options_.tokenized_bleu,
                           asked.empty() ? models.first().codec.options().target_language : asked, options_.lowercase);
  }
  const bool has_float32 = models.first().stored == WeightType::kFloat32;
  const bool has_loss = options_.loss && system.directories.size() == 1 && has_float32;
  if (options_.loss && !has_float32)
    log_.warn(
        "{}: no loss of the references: that needs float32 weights, and these are {}; evaluate the directory that "
        "it was made of, or say --no-loss",
        models.first().directory.string(), models.first().stored.name());
  if (has_loss) check_teacher_forcing(models.first(), options_.teacher_forcing);  // before the work of translating
  std::optional<Reranker> reranker;
  if (options_.rerank)
    reranker.emplace(read_reranking(models.first().directory), models.first(), options_.models.device);
  std::vector<Evaluated> results;
  try {
    for (const auto& test_set : test_sets)
      results.push_back(evaluate(system, models, reranker ? &*reranker : nullptr, test_set));
    if (has_loss) add_losses(models, test_sets, results);
  } catch (const TranslationStopped&) {
    return std::nullopt;
  }
  return results;
}

void EvaluationRun::warn_of_languages(const ReadyModel& model) const {
  const auto& [source, target] = options_.languages;
  const auto& of_model = model.codec.options();
  if (are_other_languages(source, of_model.source_language) || are_other_languages(target, of_model.target_language))
    log_.warn("{}: translates from {} to {}, the configuration's test sets are from {} to {}", model.directory.string(),
              of_model.source_language, of_model.target_language, source, target);
}

Evaluated EvaluationRun::evaluate(const System& system, const ModelSet& models, const Reranker* reranker,
                                  const TestSet& test_set) const {
  TranslatorOptions options = reranker ? options_for_reranking(models.options()) : models.options();
  options.search.target_language = language_of(test_set, models);
  const Translator translator(models.members(), std::move(options));
  ProgressBar bar(test_set.name.empty() ? "translate" : test_set.name, std::ssize(test_set.sources), "sentences");
  Evaluated result;
  auto& output = result.output;
  output = translate_test_set(test_set, translator, system.name(),
                              {.progress =
                                   [&](int64_t done) {
                                     if (!options_.quiet) bar.update(done);
                                   },
                               .stopped = options_.should_stop},
                              reranker);
  bar.clear();
  result.scores = score(output, test_set, options_.confidence ? kResamples : 1, metrics_);
  const TagCheck tags(translator.codec());
  LineWarnings untagged(log_);
  for (size_t i = 0; i < test_set.sources.size(); ++i)
    if (const auto problem = tags.problem_of(test_set.sources[i]))
      untagged.add(fmt::format("sentence {}: {}", i + 1, *problem));
  if (output.split > 0) log_.warn("{} sentences were too long and were translated in parts", output.split);
  if (output.cut > 0) log_.warn("{} translations were cut at the length limit", output.cut);
  if (!options_.quiet) report_set(result, test_set);
  result.report = report_of(output, result.scores);
  result.report["search"] = report_of(translator.options().search);
  result.report["precision"] = models.first().precision;
  if (!options_.attention_folder.empty())
    write_attention(options_.attention_folder / test_set.name, options_.attention_sentences, models.first(),
                    translator.codec(), test_set, output.hypotheses);
  return result;
}

/// On the CPU in float32, as validation measures it: the weights that decoding packed in another format are let go.
void EvaluationRun::add_losses(const ModelSet& models, const std::vector<TestSet>& test_sets,
                               std::vector<Evaluated>& results) const {
  auto& model = torch_model(models);
  if (model.is_on_cpu()) model.set_packing({});
  for (size_t i = 0; i < test_sets.size(); ++i) {
    results[i].loss = measured_loss(models, test_sets[i]);
    results[i].report["loss"] = report_of(*results[i].loss);
  }
}

TestLoss EvaluationRun::measured_loss(const ModelSet& models, const TestSet& test_set) const {
  ProgressBar bar("loss", std::ssize(test_set.sources), "sentences");
  const auto loss = test_loss(torch_model(models), models.first(), test_set,
                              {.teacher_forcing = options_.teacher_forcing,
                               .source_language = models.options().search.source_language,
                               .target_language = language_of(test_set, models),
                               .progress = [&](int64_t done) {
                                 if (!options_.quiet) bar.update(done);
                                 if (options_.should_stop()) throw TranslationStopped();
                               }});
  bar.clear();
  if (loss.too_long > 0)
    log_.warn("{} pairs are too long for the model's positions: the loss is without them", loss.too_long);
  return loss;
}

void EvaluationRun::report_set(const Evaluated& result, const TestSet& test_set) const {
  const auto& output = result.output;
  const double seconds = std::max(output.seconds, 1e-9);
  const auto& score = result.scores.front();
  log_.info("{}{}: {} {:.1f}; {} sentences in {:.2f} s: {:.1f} sentences/s, {:.0f} target tokens/s", output.name,
            test_set.name.empty() ? "" : ", " + test_set.name, score.name, score.score,
            with_commas(std::ssize(output.hypotheses)), output.seconds,
            static_cast<double>(output.hypotheses.size()) / seconds,
            static_cast<double>(output.target_tokens) / seconds);
}

scoring::PairedTable EvaluationRun::compared(const std::vector<Evaluated>& systems, const TestSet& test_set) const {
  std::vector<SystemOutput> outputs;
  for (const auto& system : systems) outputs.push_back(system.output);
  return compare(outputs, test_set, metrics_);
}

}  // namespace nmt
