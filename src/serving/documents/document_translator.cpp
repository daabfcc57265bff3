#include "serving/documents/document_translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "base/code_points.h"
#include "base/error.h"
#include "serving/queue/wait_for_answers.h"

namespace nmt {
namespace {

/// Most of their time they wait for the translator.
constexpr size_t kThreads = 16;
/// A document full of tags takes fifty times its size in memory: large ones, and those of which only the packed size is
/// known, are few at a time.
constexpr size_t kThreadsOfLarge = 2;
constexpr size_t kLarge = 256 << 10;  // bytes
constexpr DocumentLimits kLimits{.unpacked_bytes = 16 << 20};
/// Enough to tell the language of a document.
constexpr size_t kDetectedBytes = 16 << 10;
constexpr std::chrono::milliseconds kBusyPause{50};

/// Sleeps unless nobody waits any more.
void pause(const std::stop_token& given_up) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, given_up, kBusyPause, [] { return false; });
  if (given_up.stop_requested()) throw GivenUp();
}

bool is_package(DocumentFormat format) {
  using enum DocumentFormat;
  return format == kDocx || format == kPptx || format == kOdt || format == kOdp || format == kEpub;
}

std::string beginning_of(std::span<const std::string> texts) {
  std::string joined;
  for (const auto& text : texts) {
    if (joined.size() > kDetectedBytes) break;
    joined += text + '\n';
  }
  return joined;
}

/// Documents of one request, which are translated at the same time.
class Gathered {
 public:
  Gathered(size_t count, DocumentTranslator::AllDone done) : documents_(count), left_(count), done_(std::move(done)) {}

  /// The last one calls `done`.
  void add(size_t place, TranslatedDocument document, const RequestError* error) {
    const std::lock_guard lock(mutex_);
    documents_[place] = std::move(document);
    if (error) error_ = *error;
    if (--left_ == 0) done_(documents_, error_ ? &*error_ : nullptr);
  }

 private:
  std::mutex mutex_;
  std::vector<TranslatedDocument> documents_;
  std::optional<RequestError> error_;
  size_t left_;
  const DocumentTranslator::AllDone done_;
};

}  // namespace

DocumentTranslator::DocumentTranslator(RequestQueue& queue, CurrentLanguages languages, Logger& log)
    : queue_(queue),
      languages_(std::move(languages)),
      log_(log),
      threads_(std::make_unique<boost::asio::thread_pool>(kThreads)),
      threads_of_large_(std::make_unique<boost::asio::thread_pool>(kThreadsOfLarge)) {}

DocumentTranslator::~DocumentTranslator() {
  threads_->join();
  threads_of_large_->join();
}

void DocumentTranslator::translate(DocumentRequest request, Done done) {
  const bool large = request.bytes.size() > kLarge || (request.format && is_package(*request.format));
  boost::asio::post(large ? *threads_of_large_ : *threads_,
                    [this, request = std::move(request), done = std::move(done)] {
                      if (request.given_up.stop_requested()) return;
                      try {
                        done(translated(request), nullptr);
                      } catch (const GivenUp&) {
                      } catch (const RequestError& refused) {
                        done({}, &refused);
                      } catch (const Error& damaged) {
                        const RequestError refusal(400, damaged.what());
                        done({}, &refusal);
                      } catch (const std::exception& failure) {
                        log_.error("a document failed: {}", failure.what());
                        const RequestError refusal(500, "the translation failed; the server's log says why");
                        done({}, &refusal);
                      }
                    });
}

void DocumentTranslator::translate_all(std::vector<DocumentRequest> requests, const AllDone& done) {
  if (requests.empty()) return done({}, nullptr);
  const auto gathered = std::make_shared<Gathered>(requests.size(), done);
  for (size_t i = 0; i < requests.size(); ++i) {
    translate(std::move(requests[i]), [gathered, i](TranslatedDocument document, const RequestError* error) {
      gathered->add(i, std::move(document), error);
    });
  }
}

TranslatedDocument DocumentTranslator::translated(const DocumentRequest& request) const {
  TranslatedDocument result;
  const auto translate = [&](std::span<const std::string> texts) {
    int64_t characters = 0;
    for (const auto& text : texts) characters += count_code_points(text);
    if (request.admit) request.admit(characters);
    const auto direction = languages_()->direction(request.source, request.target, beginning_of(texts));
    result.detected = direction.detected;
    if (direction.pair) return translations(texts, *direction.pair, request);
    std::vector<AlignedTranslation> same;
    for (const auto& text : texts) same.push_back({text});
    return same;
  };
  result.bytes = request.format ? translate_document(*request.format, request.bytes, translate, kLimits)
                                : translate_html(request.bytes, translate, kLimits);
  return result;
}

std::vector<AlignedTranslation> DocumentTranslator::translations(std::span<const std::string> texts,
                                                                 const LanguagePair& pair,
                                                                 const DocumentRequest& request) const {
  const auto& limits = queue_.options();
  // A quarter of the queue at most, so that others find room in it.
  const auto part = static_cast<size_t>(std::max<int64_t>(1, std::min(limits.max_waiting / 4, 2 * limits.max_batch)));
  std::vector<AlignedTranslation> translations;
  while (translations.size() < texts.size()) {
    std::vector<Question> questions;
    for (const auto& text : texts.subspan(translations.size(), std::min(part, texts.size() - translations.size())))
      questions.push_back({.text = text,
                           .alignment = true,
                           .pair = pair,
                           .glossary = request.glossary,
                           .keep_placeholders = request.keep_placeholders});
    const auto on_line = [&request, before = std::ssize(translations), total = std::ssize(texts)](int64_t line,
                                                                                                  const Answer&) {
      if (request.progress) request.progress(before + line + 1, total);
    };
    std::vector<Answer> answers;
    while (answers.empty()) {
      try {
        answers = wait_for_answers(queue_, questions, request.given_up, on_line);
      } catch (const RequestError& busy) {
        if (busy.status() != 503) throw;
        pause(request.given_up);
      }
    }
    for (auto& answer : answers)
      translations.push_back(
          {answer.n_best.empty() ? "" : std::move(answer.n_best.front().text), std::move(answer.alignment)});
  }
  return translations;
}

}  // namespace nmt
