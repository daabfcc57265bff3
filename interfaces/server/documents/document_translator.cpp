#include "server/documents/document_translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/process/document_process.h"
#include "text/terms.h"

namespace nmt {
namespace {

/// Most of their time they wait for the translator.
constexpr int kThreads = 16;
/// A document full of tags takes fifty times its size in memory: large ones, and those of which only the packed size is
/// known, are few at a time.
constexpr int kThreadsOfLarge = 2;
constexpr size_t kLarge = 256 << 10;  // bytes
constexpr DocumentLimits kLimits{
    .unpacked_bytes = 16 << 20, .memory = 1 << 30, .processor_seconds = 20, .answer_bytes = 128 << 20};
/// Enough to tell the language of a document.
constexpr size_t kDetectedBytes = 16 << 10;
constexpr std::chrono::milliseconds kBusyPause{50};

/// Nobody waits for the answers any more.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("nobody waits any more") {}
};

/// RequestQueue::submit for a thread that waits for the answers. Throws RequestError as submit does, for what it calls
/// `done` with, and Cancelled.
std::vector<Translation> wait_for_answers(RequestQueue& queue, const std::string& client,
                                          std::vector<LineRequest> lines, std::stop_token cancelled,
                                          RequestQueue::OnLine on_line = {}) {
  // An exception itself stays in its thread: its text is shared in ways that the thread sanitizer does not see.
  struct Failure {
    int status;
    std::string message;
    int64_t retry_after;
  };
  struct Result {
    std::mutex mutex;
    std::condition_variable_any come;
    bool done = false;
    std::vector<Translation> answers;
    std::optional<Failure> failure;
  };
  const auto result = std::make_shared<Result>();
  queue.submit(
      client, std::move(lines), cancelled,
      [result](std::vector<Translation> answers, const RequestError* error) {
        const std::lock_guard lock(result->mutex);
        result->answers = std::move(answers);
        if (error) result->failure = {error->status(), error->what(), error->retry_after()};
        result->done = true;
        result->come.notify_all();
      },
      std::move(on_line));
  std::unique_lock lock(result->mutex);
  if (!result->come.wait(lock, cancelled, [&] { return result->done; })) throw Cancelled();
  if (const auto& failure = result->failure)
    throw RequestError(failure->status, failure->message, failure->retry_after);
  return std::move(result->answers);
}

/// Sleeps unless nobody waits any more.
void pause(const std::stop_token& cancelled) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, cancelled, kBusyPause, [] { return false; });
  if (cancelled.stop_requested()) throw Cancelled();
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

int64_t characters(std::span<const std::string> texts) {
  int64_t characters = 0;
  for (const auto& text : texts) characters += count_code_points(text);
  return characters;
}

int64_t inserted(const DocumentRequest& request, std::span<const std::string> texts) {
  int64_t characters = 0;
  for (const auto& text : texts)
    characters += request.terms.glossary ? request.terms.glossary->inserted_characters(text) : 0;
  return characters;
}

std::vector<AlignedTranslation> unchanged(std::span<const std::string> texts) {
  std::vector<AlignedTranslation> same;
  for (const auto& text : texts) same.push_back({text});
  return same;
}

void add_requests(std::vector<LineRequest>& requests, std::span<const std::string> texts, const LanguagePair& pair,
                  const DocumentRequest& document) {
  for (const auto& text : texts)
    requests.push_back({pair,
                        {.source = text,
                         .n_best = 1,
                         .markup = true,
                         .split_sentences = document.split_sentences,
                         .terms = document.terms}});
}

}  // namespace

DocumentTranslator::DocumentTranslator(RequestQueue& queue, CurrentLanguages languages, Logger& log)
    : queue_(queue),
      languages_(std::move(languages)),
      log_(log),
      threads_(kThreads, kThreads / 2),
      threads_of_large_(kThreadsOfLarge, kThreadsOfLarge / 2) {}

void DocumentTranslator::translate(DocumentRequest request, Done done) {
  if (request.bytes.empty()) return done({}, nullptr);
  const bool large = (request.format && is_package(*request.format)) ||
                     std::ranges::any_of(request.bytes, [](const auto& bytes) { return bytes.size() > kLarge; });
  const auto client = request.client;
  const auto cancelled = request.cancelled;
  (large ? threads_of_large_ : threads_)
      .submit(client, cancelled, [this, request = std::move(request), done = std::move(done)] { run(request, done); });
}

void DocumentTranslator::run(const DocumentRequest& request, const Done& done) const {
  try {
    if (request.format || request.bytes.size() == 1) return done({document(request)}, nullptr);
    done(fragments(request), nullptr);
  } catch (const Cancelled&) {
  } catch (const RequestError& refused) {
    done({}, &refused);
  } catch (const DocumentTooLarge& large) {
    const RequestError refusal(413, large.what());
    done({}, &refusal);
  } catch (const Error& damaged) {
    const RequestError refusal(400, damaged.what());
    done({}, &refusal);
  } catch (const std::exception& failure) {
    log_.error("a document failed: {}", failure.what());
    const RequestError refusal(500, "the translation failed; the server's log says why");
    done({}, &refusal);
  }
}

TranslatedDocument DocumentTranslator::document(const DocumentRequest& request) const {
  TranslatedDocument result;
  const auto translate = [&](std::span<const std::string> texts) {
    if (request.admit) request.admit(characters(texts), inserted(request, texts));
    const auto asked = direction(request, texts);
    result.detected = asked.detected;
    if (!asked.pair) return unchanged(texts);
    std::vector<LineRequest> requests;
    add_requests(requests, texts, *asked.pair, request);
    return translations(requests, request);
  };
  const auto& bytes = request.bytes.front();
  const auto check = [&] {
    if (request.cancelled.stop_requested()) throw Cancelled();
  };
  result.bytes = request.format ? translate_document_apart(*request.format, bytes, translate, kLimits, check)
                                : translate_html(bytes, translate, kLimits);
  return result;
}

/// Each is read twice: for its texts, which are translated with those of the others, and to put their translations in.
/// So a request of many fragments has one thread, like any other, and fills the batches of the translator.
std::vector<TranslatedDocument> DocumentTranslator::fragments(const DocumentRequest& request) const {
  std::vector<TranslatedDocument> results(request.bytes.size());
  std::vector<bool> is_asked(results.size());
  std::vector<LineRequest> requests;
  int64_t all_characters = 0, all_inserted = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (request.cancelled.stop_requested()) throw Cancelled();
    const auto ask = [&](std::span<const std::string> texts) {
      all_characters += characters(texts);
      all_inserted += inserted(request, texts);
      const auto asked = direction(request, texts);
      results[i].detected = asked.detected;
      is_asked[i] = asked.pair.has_value();
      if (asked.pair) add_requests(requests, texts, *asked.pair, request);
      return unchanged(texts);
    };
    translate_html(request.bytes[i], ask, kLimits);
  }
  if (request.admit) request.admit(all_characters, all_inserted);
  auto translated = translations(requests, request);
  auto next = translated.begin();
  for (size_t i = 0; i < results.size(); ++i) {
    if (request.cancelled.stop_requested()) throw Cancelled();
    const auto put_in = [&](std::span<const std::string> texts) {
      if (!is_asked[i]) return unchanged(texts);
      const auto first = next;
      next += std::ssize(texts);
      return std::vector<AlignedTranslation>(std::move_iterator(first), std::move_iterator(next));
    };
    results[i].bytes = translate_html(request.bytes[i], put_in, kLimits);
  }
  return results;
}

Direction DocumentTranslator::direction(const DocumentRequest& request, std::span<const std::string> texts) const {
  return languages_()->direction(request.source, request.target, beginning_of(texts));
}

std::vector<AlignedTranslation> DocumentTranslator::translations(std::span<const LineRequest> requests,
                                                                 const DocumentRequest& request) const {
  const auto& limits = queue_.options();
  const auto most = static_cast<size_t>(std::min(limits.most_of_request(), 2 * limits.max_batch));
  std::vector<AlignedTranslation> translations;
  while (translations.size() < requests.size()) {
    const size_t begin = translations.size();
    const auto part = requests.subspan(begin, std::min(most, requests.size() - begin));
    // When the client cancels, the request goes; the queue may be in the midst of a call, and has texts for a while.
    const auto on_line = [progress = request.progress, share = request.share, before = static_cast<int64_t>(begin),
                          total = std::ssize(requests)](int64_t line, const Translation&) {
      if (progress) progress(before + line + 1, total);
    };
    std::vector<Translation> answers;
    while (answers.empty()) {
      try {
        answers = wait_for_answers(queue_, request.client, {part.begin(), part.end()}, request.cancelled, on_line);
      } catch (const RequestError& busy) {
        if (busy.status() != 503) throw;
        pause(request.cancelled);
      }
    }
    for (auto& answer : answers) translations.push_back(best_aligned(std::move(answer)));
  }
  return translations;
}

}  // namespace nmt
