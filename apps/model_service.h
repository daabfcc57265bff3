#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/pictures/attention_picture.h"
#include "serving/question.h"
#include "translation/translator.h"
#include "translation/word_alignment.h"

namespace nmt {

/// The translator behind the service: questions of many clients, each with wishes of its own, to translators that are
/// set up for them. The n best are as many as the beam holds.
class ModelService {
 public:
  /// Borrows the models: they must outlive it.
  ModelService(std::vector<TranslatorModel> models, TranslatorOptions options) {
    options.search.n_best = 1;
    best_ = std::make_unique<Translator>(models, options);
    options.search.n_best = options.search.beam_size;
    n_best_ = std::make_unique<Translator>(models, options);
    options.search.attention = true;
    explaining_ = std::make_unique<Translator>(std::move(models), options);
    try {
      explaining_->translate(std::vector<std::string>{"a"});
    } catch (const Error&) {
      explaining_.reset();  // a model without attention
    }
  }

  std::vector<Answer> operator()(std::span<const Question> questions) const {
    std::vector<Answer> answers(questions.size());
    for (const auto* translator : {best_.get(), n_best_.get(), explaining_.get()}) {
      if (!translator) continue;
      std::vector<size_t> own;
      std::vector<std::string> lines;
      for (size_t i = 0; i < questions.size(); ++i) {
        if (translator_for(questions[i]) != translator) continue;
        own.push_back(i);
        lines.push_back(questions[i].text);
      }
      if (own.empty()) continue;
      const auto translations = translator->translate(lines);
      for (size_t i = 0; i < own.size(); ++i) answers[own[i]] = to_answer(questions[own[i]], translations[i]);
    }
    return answers;
  }

 private:
  const Translator* translator_for(const Question& question) const {
    if (question.attention && explaining_) return explaining_.get();
    return question.n_best > 1 ? n_best_.get() : best_.get();
  }

  Answer to_answer(const Question& question, const Translation& translation) const {
    Answer answer{.source_tokens = translation.source_tokens, .split = translation.split};
    for (const Alternative& one : translation.alternatives) {
      if (std::ssize(answer.n_best) == question.n_best) break;
      answer.n_best.push_back({.text = one.text,
                               .log_probability = one.log_probability,
                               .score = one.score,
                               .tokens = one.tokens,
                               .finished = one.finished});
    }
    if (question.attention && explaining_ && !translation.alternatives.empty()) {
      const auto parts = word_attention(explaining_->codec(), question.text, translation.alternatives.front());
      if (!parts.empty()) answer.attention_svg = attention_svg(parts.front().grid);
    }
    return answer;
  }

  std::unique_ptr<Translator> best_, n_best_, explaining_;
};

}  // namespace nmt
