#include "results.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "text_caster.h"

namespace nb = nanobind;

namespace nmt::python {

namespace {

nb::object results_class(const char* name) { return nb::module_::import_("nmt._results").attr(name); }
nb::object training_class(const char* name) { return nb::module_::import_("nmt._training").attr(name); }

/// An array that cannot be written to, of the memory of `values`, which it keeps.
template <typename Number, typename Value, std::size_t kDimensions>
nb::object array(std::vector<Value>&& values, const std::size_t (&shape)[kDimensions]) {
  auto* const kept = new std::vector<Value>(std::move(values));
  if (kept->empty()) kept->reserve(1);  // an address, though nothing stands there
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Value>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<kDimensions>>(
      reinterpret_cast<const Number*>(kept->data()), kDimensions, shape, owner));
}

/// The matrices of the parts of a text that was translated in parts, as one: no part looks at another.
AttentionMatrix joined(std::vector<AttentionMatrix>&& parts) {
  if (parts.size() == 1) return std::move(parts.front());
  AttentionMatrix whole;
  for (AttentionMatrix& part : parts) {
    std::move(part.rows.begin(), part.rows.end(), std::back_inserter(whole.rows));
    std::move(part.columns.begin(), part.columns.end(), std::back_inserter(whole.columns));
  }
  whole.weights.assign(whole.rows.size() * whole.columns.size(), 0);
  std::size_t row = 0, column = 0;
  for (const AttentionMatrix& part : parts) {
    for (std::size_t i = 0; i < part.rows.size(); ++i, ++row) {
      std::copy_n(part.weights.begin() + static_cast<std::ptrdiff_t>(i * part.columns.size()), part.columns.size(),
                  whole.weights.begin() + static_cast<std::ptrdiff_t>(row * whole.columns.size() + column));
    }
    column += part.columns.size();
  }
  return whole;
}

/// Turns alternatives of calls with some options into objects.
class AlternativeMaker {
 public:
  AlternativeMaker() : class_(results_class("Alternative")), attention_class_(results_class("Attention")) {}

  nb::object operator()(Alternative&& alternative) const {
    nb::object tokens = nb::none(), scores = nb::none(), alignment = nb::none(), attention = nb::none();
    if (!alternative.token_scores.empty()) {
      tokens = nb::cast(alternative.pieces);
      const std::size_t count = alternative.token_scores.size();
      scores = array<float>(std::move(alternative.token_scores), {count});
    }
    if (!alternative.alignment.empty()) {
      static_assert(sizeof(AlignedPair) == 2 * sizeof(std::int32_t));
      const std::size_t count = alternative.alignment.size();
      alignment = array<std::int32_t>(std::move(alternative.alignment), {count, 2});
    }
    if (!alternative.attention.empty()) {
      AttentionMatrix matrix = joined(std::move(alternative.attention));
      const std::size_t rows = matrix.rows.size(), columns = matrix.columns.size();
      attention =
          attention_class_(array<float>(std::move(matrix.weights), {rows, columns}), matrix.rows, matrix.columns);
    }
    return class_(alternative.text, alternative.score, alternative.log_probability, alternative.tokens,
                  alternative.finished, alternative.meets_constraints, alternative.shortened, tokens, scores, alignment,
                  attention, alternative.expected_utility);
  }

 private:
  nb::object class_, attention_class_;
};

}  // namespace

nb::list alternative_objects(std::vector<Alternative>&& alternatives) {
  const AlternativeMaker make;
  nb::list objects;
  for (Alternative& alternative : alternatives) objects.append(make(std::move(alternative)));
  return objects;
}

nb::list translation_objects(std::vector<Translation>&& translations) {
  const AlternativeMaker make;
  const nb::object translation_class = results_class("Translation");
  nb::list objects;
  for (Translation& translation : translations) {
    nb::list alternatives;
    for (Alternative& alternative : translation.alternatives) alternatives.append(make(std::move(alternative)));
    objects.append(translation_class(translation.text, alternatives, translation.source_tokens,
                                     translation.target_tokens, translation.split, translation.repaired));
  }
  return objects;
}

nb::object statistics_object(const FileStatistics& statistics) {
  return results_class("FileStatistics")(statistics.lines, statistics.source_tokens, statistics.target_tokens,
                                         statistics.repaired, statistics.split, statistics.cut, statistics.seconds);
}

nb::list information_objects(const std::vector<ModelInformation>& models) {
  const nb::object information_class = results_class("ModelInformation");
  nb::list objects;
  for (const ModelInformation& model : models) {
    objects.append(information_class(model.directory, model.source_language, model.target_language, model.parameters,
                                     model.source_vocabulary, model.target_vocabulary, model.precision,
                                     model.configuration));
  }
  return objects;
}

nb::object start_object(const TrainingStart& start) {
  return training_class("Start")(start.run_directory, start.parameters, start.update, start.max_updates,
                                 start.updates_per_epoch, start.max_epochs, start.device, start.precision,
                                 start.threads);
}

nb::object update_object(const UpdateFigures& figures) {
  return training_class("Update")(figures.epoch, figures.update, figures.loss, figures.perplexity, figures.accuracy,
                                  figures.learning_rate, figures.gradient_norm, figures.source_tokens,
                                  figures.target_tokens, figures.skipped);
}

nb::object interval_object(const IntervalFigures& figures) {
  const std::optional<double> left = figures.seconds_left < 0 ? std::nullopt : std::optional(figures.seconds_left);
  return training_class("Interval")(figures.epoch, figures.update, figures.loss, figures.perplexity, figures.accuracy,
                                    figures.learning_rate, figures.gradient_norm, figures.source_tokens_per_second,
                                    figures.target_tokens_per_second, figures.target_tokens, figures.skipped_updates,
                                    left);
}

nb::object epoch_object(const EpochFigures& figures) {
  return training_class("Epoch")(figures.epoch, figures.update, figures.loss, figures.perplexity);
}

nb::object validation_object(const ValidationFigures& figures) {
  const nb::object sample_class = training_class("Sample");
  nb::list samples, others;
  for (const auto& sample : figures.samples)
    samples.append(sample_class(sample.source, sample.reference, sample.hypothesis));
  for (const auto& other : figures.other_sets) others.append(validation_object(other));
  return training_class("Validation")(figures.epoch, figures.update, figures.set, figures.loss, figures.perplexity,
                                      figures.accuracy, figures.bleu, figures.chrf, figures.bleu_text,
                                      figures.chrf_text, figures.is_best, figures.seconds, figures.weights, samples,
                                      others);
}

nb::object training_object(const TrainingResult& result) {
  const auto best_model = result.best_model.empty() ? std::nullopt : std::optional(result.best_model);
  return training_class("TrainingResult")(result.run_directory, best_model, result.stopped, result.reason,
                                          result.updates,
                                          result.best ? validation_object(*result.best) : nb::object(nb::none()));
}

nb::object prepared_object(const PrepareResult& result) {
  return training_class("PrepareResult")(result.directory, result.up_to_date, result.table);
}

}  // namespace nmt::python
