#include "library/c/c_guard.h"
#include "library/c/c_objects.h"
#include "library/c/c_options.h"
#include "nmt/prepare.h"

namespace nmt::api {
namespace {

Configuration configuration_of(const char* file, OptionReader& reader) {
  Configuration configuration;
  if (file) configuration.file = file;
  reader.read("set", configuration.settings);
  return configuration;
}

double number(int64_t value) { return static_cast<double>(value); }

nmt_record to_event(const TrainingStart& start) {
  return {.kind = "start",
          .numbers = {{"parameters", number(start.parameters)},
                      {"update", number(start.update)},
                      {"max_updates", number(start.max_updates)},
                      {"updates_per_epoch", number(start.updates_per_epoch)},
                      {"max_epochs", number(start.max_epochs)},
                      {"threads", number(start.threads)}},
          .texts = {{"run_directory", start.run_directory}, {"device", start.device}, {"precision", start.precision}}};
}

nmt_record to_event(const UpdateFigures& figures) {
  return {.kind = "update",
          .numbers = {{"epoch", number(figures.epoch)},
                      {"update", number(figures.update)},
                      {"loss", figures.loss},
                      {"perplexity", figures.perplexity},
                      {"accuracy", figures.accuracy},
                      {"learning_rate", figures.learning_rate},
                      {"gradient_norm", figures.gradient_norm},
                      {"source_tokens", number(figures.source_tokens)},
                      {"target_tokens", number(figures.target_tokens)},
                      {"skipped", number(figures.skipped)}}};
}

nmt_record to_event(const IntervalFigures& figures) {
  return {.kind = "interval",
          .numbers = {{"epoch", number(figures.epoch)},
                      {"update", number(figures.update)},
                      {"loss", figures.loss},
                      {"perplexity", figures.perplexity},
                      {"accuracy", figures.accuracy},
                      {"learning_rate", figures.learning_rate},
                      {"gradient_norm", figures.gradient_norm},
                      {"source_tokens_per_second", figures.source_tokens_per_second},
                      {"target_tokens_per_second", figures.target_tokens_per_second},
                      {"target_tokens", number(figures.target_tokens)},
                      {"skipped_updates", number(figures.skipped_updates)},
                      {"seconds_left", figures.seconds_left}}};
}

nmt_record to_event(const EpochFigures& figures) {
  return {.kind = "epoch",
          .numbers = {{"epoch", number(figures.epoch)},
                      {"update", number(figures.update)},
                      {"loss", figures.loss},
                      {"perplexity", figures.perplexity}}};
}

void add_validation(nmt_record& record, const ValidationFigures& figures) {
  record.numbers["loss"] = figures.loss;
  record.numbers["perplexity"] = figures.perplexity;
  record.numbers["accuracy"] = figures.accuracy;
  if (figures.bleu) record.numbers["bleu"] = *figures.bleu;
  if (figures.chrf) record.numbers["chrf"] = *figures.chrf;
  if (figures.bleu) record.texts["bleu_text"] = figures.bleu_text;
  if (figures.chrf) record.texts["chrf_text"] = figures.chrf_text;
  record.texts["weights"] = figures.weights;
}

nmt_record to_event(const ValidationFigures& figures) {
  nmt_record record{.kind = "validation",
                    .numbers = {{"epoch", number(figures.epoch)},
                                {"update", number(figures.update)},
                                {"is_best", number(figures.is_best)},
                                {"seconds", figures.seconds}},
                    .texts = {{"set", figures.set}}};
  add_validation(record, figures);
  return record;
}

nmt_record* to_record(const TrainingResult& result) {
  auto record = std::make_unique<nmt_record>();
  record->kind = "training";
  record->numbers = {{"stopped", number(result.stopped)}, {"updates", number(result.updates)}};
  record->texts = {{"run_directory", result.run_directory}, {"reason", result.reason}};
  if (!result.best_model.empty()) record->texts["best_model"] = result.best_model;
  if (result.best) {
    record->numbers["best_update"] = number(result.best->update);
    add_validation(*record, *result.best);
  }
  return record.release();
}

TrainingCallbacks callbacks_to(nmt_training_function event, void* user) {
  if (!event) return {};
  const auto tell = [event, user](const nmt_record& record) {
    if (event(user, &record) < 0) throw CallbackSaidNo();
  };
  return {[tell](const auto& start) { tell(to_event(start)); },
          [tell](const auto& figures) { tell(to_event(figures)); },
          [tell](const auto& figures) { tell(to_event(figures)); },
          [tell](const auto& figures) { tell(to_event(figures)); },
          [tell](const auto& figures) { tell(to_event(figures)); },
          [tell](int64_t update) {
            tell({.kind = "checkpoint", .numbers = {{"update", number(update)}}});
          }};
}

}  // namespace
}  // namespace nmt::api

using namespace nmt::api;

extern "C" {

nmt_status nmt_prepare(const char* configuration, const nmt_options* options, nmt_log_function log, void* user,
                       nmt_stop* stop, nmt_record** result) {
  if (result) *result = nullptr;
  return without_exceptions([&] {
    OptionReader reader(options);
    PrepareOptions wanted;
    wanted.configuration = configuration_of(configuration, reader);
    reader.read("overwrite", wanted.overwrite);
    reader.finish();
    wanted.log = sink_of(log, user);
    wanted.stop = token_of(stop);
    const auto prepared = prepare(wanted);
    if (result)
      *result = new nmt_record{.kind = "prepare",
                               .numbers = {{"up_to_date", number(prepared.up_to_date)}},
                               .texts = {{"directory", prepared.directory}, {"table", prepared.table}}};
  });
}

nmt_status nmt_train(const char* configuration, const nmt_options* options, nmt_training_function event,
                     nmt_log_function log, void* user, nmt_stop* stop, nmt_record** result) {
  if (result) *result = nullptr;
  return without_exceptions([&] {
    OptionReader reader(options);
    TrainerOptions wanted;
    wanted.configuration = configuration_of(configuration, reader);
    reader.read("restart", wanted.restart);
    reader.finish();
    wanted.callbacks = callbacks_to(event, user);
    wanted.log = sink_of(log, user);
    wanted.stop = token_of(stop);
    const auto trained = Trainer(std::move(wanted)).run();
    if (result) *result = to_record(trained);
  });
}

}  // extern "C"
