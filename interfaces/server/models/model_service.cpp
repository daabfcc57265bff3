#include "server/models/model_service.h"

#include <optional>
#include <utility>

#include "report/pictures/attention_picture.h"
#include "text/terms.h"
#include "translation/lines/word_alignment.h"

namespace nmt {
/// The lines of a service as a translator takes them.
class ModelService::Lines final : public TranslationQueue {
 public:
  Lines(const ModelService& service, LineQueue& lines) : service_(service), lines_(lines) {}

  std::vector<Handle> take(int64_t count) override {
    struct Line {
      LineQueue::Handle handle;
      TranslationRequest request;
    };
    std::vector<Handle> taken;
    for (auto& one : lines_.take(count)) {
      auto request = service_.to_request(one.request());
      const auto line = std::make_shared<Line>(Line{std::move(one), std::move(request)});
      taken.emplace_back(line->request, line->handle.stop(), [this, line](std::optional<Translation> translation) {
        if (translation) line->handle.finish(service_.to_answer(line->handle.request(), *translation));
      });
    }
    return taken;
  }
  bool wait() override { return lines_.wait(); }
  int64_t waiting() const override { return lines_.waiting(); }

 private:
  const ModelService& service_;
  LineQueue& lines_;
};

ModelService::ModelService(std::vector<TranslatorModel> models, TranslatorOptions options, TermOptions terms)
    : terms_(std::move(terms)) {
  options.search.n_best = 1;
  translator_ = std::make_unique<Translator>(std::move(models), options);
  translator_->aligns();
}

TranslationRequest ModelService::to_request(const ServiceRequest& question) const {
  TranslationRequest request{.source = question.text, .prefix = question.prefix, .whole_prefix = true};
  request.n_best = question.n_best;
  request.attention = (question.attention || question.alignment) && translator_->aligns();
  request.distinct = question.distinct && question.n_best > 1;
  request.terms.glossary = question.glossary ? question.glossary : terms_.glossary;
  request.terms.keep_placeholders = question.keep_placeholders || terms_.keep_placeholders;
  return request;
}

void ModelService::serve(LineQueue& lines) const {
  Lines queue(*this, lines);
  translator_->translate(queue);
}

std::vector<ServiceResult> ModelService::answers_to(std::span<const ServiceRequest> questions,
                                                    const std::function<bool()>& stopped) const try {
  std::vector<TranslationRequest> requests;
  for (const auto& question : questions) requests.push_back(to_request(question));
  const auto translations = translator_->translate(requests, {.stopped = stopped});
  std::vector<ServiceResult> answers;
  for (size_t i = 0; i < questions.size(); ++i) answers.push_back(to_answer(questions[i], translations[i]));
  return answers;
} catch (const TranslationStopped&) {
  return {};
}

ServiceResult ModelService::to_answer(const ServiceRequest& question, const Translation& translation) const {
  if (translation.prefix_is_cut) return {.refused = "prefix: is longer than any translation of the model"};
  ServiceResult answer{.source_tokens = translation.source_tokens, .split = translation.split};
  for (const Alternative& one : translation.alternatives) {
    if (std::ssize(answer.n_best) == question.n_best) break;
    answer.n_best.push_back({.text = one.text,
                             .log_probability = one.log_probability,
                             .score = one.score,
                             .tokens = one.tokens,
                             .finished = one.finished});
  }
  if (!(question.attention || question.alignment) || !translator_->aligns() || translation.alternatives.empty())
    return answer;
  const Alternative& best = translation.alternatives.front();
  if (best.aligned) {
    if (question.alignment) answer.alignment = *best.aligned;
    return answer;  // the words of a picture would not be those of the text
  }
  const auto parts = word_attention(translator_->codec(), question.text, best);
  if (question.attention && !parts.empty()) answer.attention_svg = attention_svg(parts.front().grid);
  if (question.alignment) answer.alignment = aligned_words(parts, question.text, best.text);
  return answer;
}

}  // namespace nmt
