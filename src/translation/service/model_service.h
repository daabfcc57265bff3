#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "serving/question.h"
#include "translation/translator.h"

namespace nmt {

/// The translator behind the service: questions of many clients, each with options of its own, to translators that are
/// set up for them. The n best are as many as the beam holds.
class ModelService {
 public:
  /// Borrows the models: they must outlive it.
  ModelService(std::vector<TranslatorModel> models, TranslatorOptions options);

  /// An answer for each question, in order; none when `stopped` ended the search.
  std::vector<Answer> operator()(std::span<const Question> questions, const std::function<bool()>& stopped) const;

 private:
  const Translator* translator_for(const Question& question) const;
  Answer to_answer(const Question& question, const Translation& translation) const;

  std::unique_ptr<Translator> best_, n_best_;
  std::unique_ptr<Translator> aligning_, explaining_;  ///< with attention; null for a model that has none
};

}  // namespace nmt
