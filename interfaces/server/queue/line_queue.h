#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/languages/service_languages.h"
#include "translation/lines/request.h"

namespace nmt {

/// A line of text that is to be translated.
struct LineRequest {
  LanguagePair pair = {};  ///< of languages
  Request request;
};

/// A translation for each request, in order. Called by one thread at a time. It asks `stopped` now and then: once that
/// is true nobody waits for them, and it may return none.
using TranslateFunction = std::function<std::vector<Translation>(
    const LanguagePair& pair, std::span<const Request> requests, const std::function<bool()>& stopped)>;

/// The translator behind the service: takes lines and answers them until it is told to end (SentenceQueue::wait). What
/// it throws is logged; the lines that it has dropped although they are not cancelled are given to it once more, one by
/// one, and those that it drops again are told to their clients as status 500.
using LineTranslator = std::function<void(const LanguagePair& pair, TranslationQueue& lines)>;

/// A translator of lists as one of lines: it is called once, with as many lines as there are.
LineTranslator in_batches(TranslateFunction translate);

}  // namespace nmt
