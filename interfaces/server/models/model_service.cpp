#include "server/models/model_service.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "report/pictures/attention_picture.h"
#include "text/terms.h"
#include "translation/lines/word_alignment.h"

namespace nmt {
namespace {

/// A line that is alone and no longer than this is translated by all threads together.
constexpr size_t kShortLine = 1000;  // bytes

}  // namespace

/// The lines of a service as a translator takes them.
class ModelService::Lines final : public TranslationQueue {
 public:
  Lines(const ModelService& service, LineQueue& lines) : service_(service), lines_(lines) {}

  void add(LineQueue::Line line) { first_.push_back(std::move(line)); }

  std::vector<Item> take(int64_t count) override {
    std::vector<LineQueue::Line> taken;
    {
      const std::lock_guard lock(mutex_);
      taken = std::exchange(first_, {});
    }
    for (auto& line : lines_.take(count - std::ssize(taken))) taken.push_back(std::move(line));
    std::vector<Item> items;
    for (const auto& line : taken) items.push_back({line.id, service_.to_request(line.question), line.cancelled});
    const std::lock_guard lock(mutex_);
    for (auto& line : taken) questions_.emplace(line.id, std::move(line.question));
    return items;
  }
  bool wait() override { return lines_.wait(); }
  void finish(int64_t id, Translation translation) override {
    lines_.answer(id, service_.to_answer(question_of(id), translation));
  }
  bool is_cancelled(int64_t id) override {
    if (!lines_.is_cancelled(id)) return false;
    question_of(id);
    return true;
  }
  int64_t waiting() const override {
    const std::lock_guard lock(mutex_);
    return lines_.waiting() + std::ssize(first_);
  }
  void close() override { lines_.close(); }

 private:
  /// It is not kept any longer.
  ServiceRequest question_of(int64_t id) {
    const std::lock_guard lock(mutex_);
    auto node = questions_.extract(id);
    return node.empty() ? ServiceRequest() : std::move(node.mapped());
  }

  const ModelService& service_;
  LineQueue& lines_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<LineQueue::Line> first_;
  std::map<int64_t, ServiceRequest> questions_;
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
  if (lines.waiting() == 1) {
    auto only = lines.take(1);
    if (only.empty()) return;
    if (only.front().question.text.size() <= kShortLine) {
      const ServiceRequest& question = only.front().question;
      const auto stopped = [&] { return lines.is_cancelled(only.front().id); };
      auto answers = answers_to({&question, 1}, stopped);
      if (!answers.empty()) lines.answer(only.front().id, std::move(answers.front()));
      return;
    }
    queue.add(std::move(only.front()));
  }
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
