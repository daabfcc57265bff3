#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "server/queue/line_queue.h"
#include "translation/translator.h"

namespace nmt {

/// The translator behind the service: lines of many clients, each with options of its own. The n best are as many as
/// the beam holds.
class ModelService {
 public:
  /// Borrows the models: they must outlive it. terms: of questions that have no glossary of their own.
  ModelService(std::vector<TranslatorModel> models, TranslatorOptions options, TermOptions terms = {});

  /// Answers lines until the queue is at its end; they join those that are being translated.
  void serve(LineQueue& lines) const;
  /// An answer for each question, in order; none when `stopped` ended the search.
  std::vector<ServiceResult> answers_to(std::span<const ServiceRequest> questions,
                                        const std::function<bool()>& stopped) const;

 private:
  class Lines;
  TranslationRequest to_request(const ServiceRequest& question) const;
  ServiceResult to_answer(const ServiceRequest& question, const Translation& translation) const;

  std::unique_ptr<Translator> translator_;
  TermOptions terms_;
};

}  // namespace nmt
