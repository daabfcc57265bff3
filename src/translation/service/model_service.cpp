#include "translation/service/model_service.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "report/pictures/attention_picture.h"
#include "translation/word_alignment.h"

namespace nmt {

ModelService::ModelService(std::vector<TranslatorModel> models, TranslatorOptions options) {
  options.search.n_best = 1;
  best_ = std::make_unique<Translator>(models, options);
  options.search.n_best = options.search.beam_size;
  n_best_ = std::make_unique<Translator>(models, options);
  options.search.attention = true;
  explaining_ = std::make_unique<Translator>(models, options);
  options.search.n_best = 1;
  aligning_ = std::make_unique<Translator>(std::move(models), options);
  try {
    aligning_->translate(std::vector<std::string>{"a"});
  } catch (const Error&) {
    explaining_.reset();  // a model without attention
    aligning_.reset();
  }
}

std::vector<Answer> ModelService::operator()(std::span<const Question> questions,
                                             const std::function<bool()>& stopped) const try {
  std::vector<Answer> answers(questions.size());
  for (const auto* translator : {best_.get(), n_best_.get(), aligning_.get(), explaining_.get()}) {
    if (!translator) continue;
    std::vector<size_t> own;
    std::vector<std::string> lines;
    for (size_t i = 0; i < questions.size(); ++i) {
      if (translator_for(questions[i]) != translator) continue;
      own.push_back(i);
      lines.push_back(questions[i].text);
    }
    if (own.empty()) continue;
    const auto translations = translator->translate(lines, {.stopped = stopped});
    for (size_t i = 0; i < own.size(); ++i) answers[own[i]] = to_answer(questions[own[i]], translations[i]);
  }
  return answers;
} catch (const TranslationStopped&) {
  return {};
}

const Translator* ModelService::translator_for(const Question& question) const {
  if (question.attention && explaining_) return explaining_.get();
  if (question.alignment && question.n_best == 1 && aligning_) return aligning_.get();
  return question.n_best > 1 ? n_best_.get() : best_.get();
}

Answer ModelService::to_answer(const Question& question, const Translation& translation) const {
  Answer answer{.source_tokens = translation.source_tokens, .split = translation.split};
  for (const Alternative& one : translation.alternatives) {
    if (std::ssize(answer.n_best) == question.n_best) break;
    answer.n_best.push_back({.text = one.text,
                             .log_probability = one.log_probability,
                             .score = one.score,
                             .tokens = one.tokens,
                             .finished = one.finished});
  }
  const bool picture = question.attention && explaining_;
  const bool alignment = question.alignment && question.n_best == 1 && aligning_;
  if ((picture || alignment) && !translation.alternatives.empty()) {
    const Alternative& best = translation.alternatives.front();
    const auto parts = word_attention(best_->codec(), question.text, best);
    if (picture && !parts.empty()) answer.attention_svg = attention_svg(parts.front().grid);
    if (alignment) answer.alignment = aligned_words(parts, question.text, best.text);
  }
  return answer;
}

}  // namespace nmt
