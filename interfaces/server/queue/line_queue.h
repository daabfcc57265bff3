#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/languages/service_languages.h"
#include "text/aligned_translation.h"
#include "text/sentence_queue.h"

namespace nmt {

class Glossary;

/// A line of text that is to be translated.
struct ServiceRequest {
  std::string text;
  int64_t n_best = 1;                             ///< translations wanted; there may be fewer
  bool attention = false;                         ///< a picture of the attention is wanted
  bool alignment = false;                         ///< ServiceResult::alignment is wanted
  LanguagePair pair = {};                         ///< of languages
  std::string prefix = {};                        ///< text that the translation begins with
  bool distinct = false;                          ///< the n best all continue differently behind the prefix
  std::shared_ptr<const Glossary> glossary = {};  ///< the client's terms, in place of the service's own; null: none
  bool keep_placeholders = false;                 ///< addresses, {name}, %s and the like stay as they are
};

/// One of the n best translations of a line.
struct RankedText {
  std::string text;
  double log_probability = 0;  ///< natural logarithm, end symbol included
  double score = 0;            ///< log_probability / length penalty
  int64_t tokens = 0;          ///< pieces, end symbol included
  bool finished = true;        ///< false: cut at the length limit
};

struct ServiceResult {
  std::string refused = {};             ///< why there is no translation: a reason for the client; empty: there is one
  std::vector<RankedText> n_best = {};  ///< best first; none for an empty line
  int64_t source_tokens = 0;            ///< pieces
  bool split = false;                   ///< the line was too long for the model and translated in parts
  std::string attention_svg = {};       ///< empty where not asked for or not there
  /// Each word of the best translation with the one of the line that it comes from; empty where not asked for or not
  /// there.
  std::vector<AlignedWords> alignment = {};
};

/// An answer for each question, in order; they are of one pair of languages. Called by one thread at a time. It asks
/// `stopped` now and then: once that is true nobody waits for the answers, and it may return none.
using TranslateFunction =
    std::function<std::vector<ServiceResult>(std::span<const ServiceRequest>, const std::function<bool()>& stopped)>;

/// Lines of one pair of languages that wait for their translations, of many clients; more may come while a translator
/// works on those that it has. Of each client that waits an even share is taken.
using LineQueue = SentenceQueue<ServiceRequest, ServiceResult>;

/// The translator behind the service: takes lines and answers them until it is told to end (SentenceQueue::wait). What
/// it throws is logged; the lines that it has dropped although they are not cancelled are given to it once more, one by
/// one, and those that it drops again are told to their clients as status 500.
using LineTranslator = std::function<void(const LanguagePair& pair, LineQueue& lines)>;

/// A translator of lists as one of lines: it is called once, with as many lines as there are.
LineTranslator in_batches(TranslateFunction translate);

}  // namespace nmt
