#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "markup/document.h"
#include "serving/http/request_error.h"
#include "serving/languages/service_languages.h"
#include "serving/queue/request_queue.h"

namespace boost::asio {
class thread_pool;
}

namespace nmt {

/// A document, or a fragment of HTML, that a client wants translated.
struct DocumentRequest {
  std::string bytes;
  std::optional<DocumentFormat> format = {};      ///< nothing: a fragment of HTML
  std::string source, target;                     ///< as ServiceLanguages::direction() takes them
  std::shared_ptr<const Glossary> glossary = {};  ///< the client's terms; null: none
  bool keep_placeholders = false;
  std::stop_token given_up = {};
  /// Called with the texts of the document that are done, and all of them.
  std::function<void(int64_t done, int64_t total)> progress = {};
  /// Called with the number of characters that are to be translated, before they are; what it throws ends the request.
  std::function<void(int64_t)> admit = {};
};

struct TranslatedDocument {
  std::string bytes;
  std::optional<DetectedLanguage> detected = {};  ///< of source "auto": that of all texts together
};

/// The languages at this moment: they may be others after a reload.
using CurrentLanguages = std::function<std::shared_ptr<const ServiceLanguages>()>;

/// Translates documents part by part, so that a short text that comes in between waits for one part at most. Each
/// document has a thread, up to a number; further ones wait. Any thread may call it.
class DocumentTranslator {
 public:
  /// The document, or why there is none. Not called when the client has given up.
  using Done = std::function<void(TranslatedDocument document, const RequestError* error)>;

  /// Borrows all: they must outlive it.
  DocumentTranslator(RequestQueue& queue, CurrentLanguages languages, Logger& log);
  /// Waits for the documents under way: their clients must have given up, or be answered.
  ~DocumentTranslator();

  void translate(DocumentRequest request, Done done);

  /// All of them, in order, or why one of them was not translated.
  using AllDone = std::function<void(const std::vector<TranslatedDocument>& documents, const RequestError* error)>;
  void translate_all(std::vector<DocumentRequest> requests, const AllDone& done);

 private:
  TranslatedDocument translated(const DocumentRequest& request) const;
  std::vector<AlignedTranslation> translations(std::span<const std::string> texts, const LanguagePair& pair,
                                               const DocumentRequest& request) const;

  RequestQueue& queue_;
  CurrentLanguages languages_;
  Logger& log_;
  std::unique_ptr<boost::asio::thread_pool> threads_, threads_of_large_;
};

}  // namespace nmt
