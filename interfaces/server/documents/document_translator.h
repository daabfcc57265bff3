#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "documents/document.h"
#include "server/http/http_message.h"
#include "server/languages/service_languages.h"
#include "server/queue/fair_pool.h"
#include "server/queue/line_queue.h"
#include "server/queue/request_queue.h"

namespace nmt {

/// A document, or fragments of HTML, that a client wants translated.
struct DocumentRequest {
  std::string client = {};                    ///< whose turn it takes
  std::vector<std::string> bytes;             ///< of the document, or of each fragment
  std::optional<DocumentFormat> format = {};  ///< nothing: fragments of HTML
  std::string source, target;                 ///< as ServiceLanguages::direction() takes them
  TermOptions terms = {};                     ///< the client's
  std::optional<bool> split_sentences = {};   ///< as the client says; unset: as the service does
  std::stop_token cancelled = {};
  /// Share of the memory for the bytes: it is given back when neither they nor texts of them are held any more.
  std::shared_ptr<const MemoryBudget::Share> share = {};
  /// Called with the texts of the document that are done, and all of them. It is copied; a call may end after the
  /// client has cancelled.
  std::function<void(int64_t done, int64_t total)> progress = {};
  /// Called with the characters of the texts, and those that the glossary puts into them, before they are translated;
  /// what it throws ends the request.
  std::function<void(int64_t texts, int64_t inserted)> admit = {};
};

struct TranslatedDocument {
  std::string bytes;
  std::optional<DetectedLanguage> detected = {};  ///< of source "auto": that of all texts together
};

/// The languages at this moment: they may be others after a reload.
using CurrentLanguages = std::function<std::shared_ptr<const ServiceLanguages>()>;

/// Translates documents part by part, so that a short text that comes in between waits for one part at most. Each
/// request has a thread of a FairPool, of which one client has half at most. Any thread may call it.
class DocumentTranslator {
 public:
  /// The document, or all fragments in their order; or why there are none. Not called when the client has cancelled.
  using Done = std::function<void(std::vector<TranslatedDocument> documents, const RequestError* error)>;

  /// Borrows all: they must outlive it. Its end waits for the documents under way: their clients must have cancelled,
  /// or be answered. Throws MachineError where the system gives no thread.
  DocumentTranslator(RequestQueue& queue, CurrentLanguages languages, Logger& log);
  /// `done` is called later, on a thread of its own, or at once where there is no fragment.
  void translate(DocumentRequest request, Done done);

 private:
  void run(const DocumentRequest& request, const Done& done) const;
  TranslatedDocument document(const DocumentRequest& request) const;
  std::vector<TranslatedDocument> fragments(const DocumentRequest& request) const;
  Direction direction(const DocumentRequest& request, std::span<const std::string> texts) const;
  std::vector<AlignedTranslation> translations(std::span<const LineRequest> requests,
                                               const DocumentRequest& request) const;

  RequestQueue& queue_;
  CurrentLanguages languages_;
  Logger& log_;
  FairPool threads_, threads_of_large_;
};

}  // namespace nmt
