#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/strict_json.h"
#include "base/process/log.h"
#include "server/admission.h"
#include "server/documents/document_translator.h"
#include "server/documents/download_store.h"
#include "server/http/http_message.h"
#include "server/languages/service_languages.h"
#include "server/queue/line_queue.h"
#include "server/queue/request_queue.h"
#include "server/records/metrics.h"
#include "server/records/suggestion_file.h"
#include "server/request_body.h"

namespace nmt {

struct ServiceOptions {
  std::vector<LanguagePair> pairs = {{}};
  LanguageAliases aliases = {};
  AdmissionRules admission = {};
  int64_t max_n_best = 1;        ///< translations of a line that can be had
  std::string suggestions = {};  ///< file for better translations from clients; empty: none are taken
  QueueOptions queue = {};
  void validate() const;  ///< throws Error
};

/// A document that a client sent.
struct UploadedFile {
  std::string name;
  std::string_view bytes;
};

/// What the service does, without HTTP: fields of a request in, JSON out. The answers are LibreTranslate's but for
/// explain, which is our own (docs/serving.md). Any number of threads may call it.
///
/// All that take a body throw RequestError: 400 for fields that are wrong, 403 for the key, 413, 429 for a limit, 503.
class TranslationService {
 public:
  /// Borrows log. Throws Error for options out of range.
  TranslationService(LineTranslator translate, ServiceOptions options, Logger& log);

  /// POST /translate. Answers later, on a thread of the service.
  void translate(const RequestBody& body, const Caller& caller, HttpReply reply);
  /// POST /translate_file: keeps the translated document for GET /download_file. base_url is that of this server as the
  /// client knows it. As translate does.
  void translate_file(const UploadedFile& file, const RequestBody& body, const Caller& caller, std::string base_url,
                      HttpReply reply);
  /// GET /download_file/NAME; null where there is none, or not any more.
  std::shared_ptr<const Download> download(const std::string& name) { return downloads_.find(name); }
  /// POST /explain: each line with its n best, their scores and a picture of the attention. As translate does.
  void explain(const RequestBody& body, const Caller& caller, HttpReply reply);
  nlohmann::ordered_json detect(const RequestBody& body, const Caller& caller);        ///< POST /detect
  nlohmann::ordered_json suggest(const RequestBody& body, const Caller& caller);       ///< POST /suggest
  nlohmann::ordered_json languages() const { return current_languages()->to_json(); }  ///< GET /languages
  nlohmann::ordered_json settings() const;                                             ///< GET /frontend/settings
  std::string metrics_text() const;                                                    ///< GET /metrics
  Metrics& metrics() { return metrics_; }

  /// From now on the service has these languages.
  void set_languages(std::shared_ptr<const ServiceLanguages> languages) noexcept;

  void end_turns() { queue_.end_turns(); }  ///< see RequestQueue

  struct AskedText;  // of one request

 private:
  std::shared_ptr<const ServiceLanguages> current_languages() const;
  void check(const RequestBody& body, const Caller& caller) const;
  void count(const RequestBody& body, const Caller& caller, int64_t inserted = 0);
  void count_translated(const RequestBody& body, const Caller& caller, int64_t inserted, const std::string& source,
                        const std::string& target);
  std::string client_of(const RequestBody& body, const Caller& caller) const;
  using LineEvent = std::function<nlohmann::ordered_json(int64_t number, const std::string& line, const Translation&)>;
  void stream_lines(const std::string& client, AskedText text, std::vector<LineRequest> requests, const Caller& caller,
                    const HttpReply& reply, const std::shared_ptr<LatencyTimer>& timer, LineEvent event);
  void translate_fragments(std::vector<std::string> texts, const RequestBody& body, const Caller& caller,
                           HttpReply reply, const std::shared_ptr<LatencyTimer>& timer);

  const ServiceOptions options_;
  mutable std::mutex languages_mutex_;
  std::shared_ptr<const ServiceLanguages> languages_;
  Metrics metrics_;
  Admission admission_;
  SuggestionFile suggestions_;
  DownloadStore downloads_;
  RequestQueue queue_;
  DocumentTranslator documents_;  // ends first: it waits for the queue's answers
};

/// An answer of status 200. Bytes that are no UTF-8, which a model may write, become U+FFFD.
HttpResponse json_response(const nlohmann::ordered_json& json);
HttpResponse error_response(const RequestError& error);

}  // namespace nmt
