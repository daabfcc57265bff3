#include "evaluation/test_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/process/log.h"
#include "data/batches.h"
#include "models/loss.h"
#include "models/search/torch_step.h"
#include "text/codec/codec.h"
#include "text/codec/language_tags.h"

namespace nmt {
namespace {

std::vector<IdPair> encoded(const TextCodec& codec, const TestSet& test_set) {
  std::vector<IdPair> pairs;
  for (size_t i = 0; i < test_set.sources.size(); ++i)
    pairs.push_back({.source = codec.encode_source(test_set.sources[i]),
                     .target = codec.tagged_target(codec.encode_target(test_set.references.front()[i]))});
  return pairs;
}

}  // namespace

double TestLoss::perplexity() const { return std::exp(loss); }

std::string TestLoss::format(int width) const {
  const int digits = std::max(width, 4);
  std::string text = fmt::format("loss = {:.{}f}, perplexity = {:.{}f} ({} target tokens", loss, digits, perplexity(),
                                 digits, with_commas(target_tokens));
  if (teacher_forcing == 0) {
    text += ", free-running";
  } else if (teacher_forcing < 1) {
    text += fmt::format(", teacher forcing {}", teacher_forcing);
  }
  if (too_long > 0) text += fmt::format("; without {} pairs that are too long for the model", with_commas(too_long));
  return text + ")";
}

void check_teacher_forcing(const ModelFiles& loaded, double teacher_forcing) {
  if (teacher_forcing < 1 && loaded.config.model.architecture != Architecture::kRecurrent)
    throw Error(fmt::format("teacher forcing {}: is for recurrent models, {} is a {}; leave it out", teacher_forcing,
                            loaded.directory.string(), loaded.config.model.architecture.name()));
}

TestLoss test_loss(TranslationModel& model, const ModelFiles& loaded, const TestSet& test_set,
                   const TestLossOptions& options) {
  check_teacher_forcing(loaded, options.teacher_forcing);
  const auto form = loaded.codec.options().source_form();
  const auto limits = model.limits();
  auto pairs = encoded(between_languages(loaded.codec, options.source_language, options.target_language), test_set);
  TestLoss result{.teacher_forcing = options.teacher_forcing};
  result.too_long = std::erase_if(pairs, [&](const IdPair& pair) {
    return !fits_into(limits, source_length(std::ssize(pair.source), form.markers), std::ssize(pair.target) + 1);
  });
  result.pairs = std::ssize(pairs);
  if (pairs.empty())
    throw Error(fmt::format("{}: no pair is short enough for the positions of {}; leave the loss out (--no-loss)",
                            test_set.source_file.string(), loaded.directory.string()));
  model.eval();
  LossTotals totals;
  int64_t done = 0;
  for (const auto& batch : plan_by_length(pairs, form.markers, kHeldOutBatchTokens)) {
    const std::vector<Batch> one = {make_batch(pairs, form, batch)};
    totals += evaluate(model, one, {}, device_of(model), options.teacher_forcing);
    done += std::ssize(batch);
    if (options.progress) options.progress(done);
  }
  result.loss = totals.mean_label_loss();
  result.accuracy = totals.accuracy();
  result.target_tokens = totals.target_tokens;
  return result;
}

nlohmann::ordered_json report_of(const TestLoss& loss) {
  return {{"loss", loss.loss},
          {"perplexity", loss.perplexity()},
          {"accuracy", loss.accuracy},
          {"target_tokens", loss.target_tokens},
          {"pairs", loss.pairs},
          {"too_long", loss.too_long},
          {"teacher_forcing", loss.teacher_forcing}};
}

}  // namespace nmt
