// What nmt.h declares: JSON to the classes of nmt/*.h and back.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unicode.h"
#include "config/value.h"
#include "library/inner/json_answer.h"
#include "library/inner/json_request.h"
#include "nmt.h"
#include "nmt/scorer.h"
#include "nmt/server.h"
#include "nmt/trainer.h"
#include "nmt/translator.h"
#include "nmt/version.h"

struct nmt_translator {
  nmt::api::Translator translator;
};

struct nmt_server {
  nmt::api::Server server;
  std::string url;
};

namespace nmt::api {
namespace {

// Where no memory is left even for the message, a text of the library's own.
thread_local std::string t_message;
thread_local const char* t_shown = "";

nmt_status noted(nmt_status status, const char* message) noexcept {
  try {
    t_message = printable_line(message);  // whatever texts of the caller it holds
    t_shown = t_message.c_str();
  } catch (...) {
    t_shown = "out of memory";
  }
  return status;
}

template <typename Body>
nmt_status without_exceptions(const Body& body) noexcept {
  try {
    body();
    return NMT_OK;
  } catch (const Stopped& stopped) {
    return noted(NMT_STOPPED, stopped.what());
  } catch (const UserError& error) {
    return noted(NMT_USER_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return noted(NMT_MACHINE_ERROR, "out of memory");
  } catch (const std::exception& error) {
    return noted(NMT_MACHINE_ERROR, error.what());
  } catch (...) {
    return noted(NMT_MACHINE_ERROR, "an unknown error");
  }
}

template <typename Pointer>
Pointer& required(Pointer* pointer, const char* name) {
  if (!pointer) throw UserError(std::string(name) + " is NULL");
  return *pointer;
}

char* copied(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

char* copied_json(const Json& answer) { return copied(answer.dump(-1, ' ', false, Json::error_handler_t::replace)); }

enum class Answer { kRequired, kOptional };

/// A function whose body answers with JSON.
template <typename Body>
nmt_status answered(char** answer, Answer kind, const Body& body) noexcept {
  if (answer) *answer = nullptr;
  return without_exceptions([&] {
    if (kind == Answer::kRequired) required(answer, "answer");
    const Json json = body();
    if (answer) *answer = copied_json(json);
  });
}

/// The caller's callback with a stop for the work that it may end.
class Listener {
 public:
  Listener(nmt_callback callback, void* user) : callback_(callback), user_(user) {}

  void tell(const Json& event) const {
    if (!callback_) return;
    if (callback_(user_, event.dump(-1, ' ', false, Json::error_handler_t::replace).c_str()) != 0) stop_.request_stop();
  }
  LogSink log() const {
    if (!callback_) return {};
    return [self = *this](LogLevel level, const std::string& line) {
      const char* name = level == LogLevel::kError ? "error" : level == LogLevel::kWarning ? "warning" : "info";
      self.tell({{"event", "log"}, {"level", name}, {"text", line}});
    };
  }
  std::function<void(std::int64_t)> progress() const {
    if (!callback_) return {};
    return [self = *this](std::int64_t done) { self.tell({{"event", "progress"}, {"done", done}}); };
  }
  StopToken stop() const { return stop_; }

 private:
  nmt_callback callback_;
  void* user_;
  StopToken stop_;
};

/// Does not read the texts; finishes the request.
TranslateOptions read_translation(JsonRequest& request, const Listener& listener) {
  TranslateOptions options;
  request.read_fields(options);
  std::string glossary;
  request.read("glossary", glossary);
  if (!glossary.empty()) options.glossary = Glossary::read(glossary);
  request.finish(options.decoding);
  options.progress = listener.progress();
  options.stop = listener.stop();
  return options;
}

std::vector<Request> read_texts(JsonRequest& request) {
  std::vector<Request> texts;
  const auto* given = request.take("texts");
  if (!given || !given->is_array()) throw UserError("texts: give a list of texts");
  for (const auto& item : *given) {
    auto& text = texts.emplace_back();
    if (item.is_string()) {
      text.source = item.get<std::string>();
      continue;
    }
    JsonRequest one(item.dump().c_str());
    one.read_fields(text);
    one.finish();
  }
  return texts;
}

Scorer read_scorer(JsonRequest& request) {
  const auto made_of = [&](auto options) {
    request.read_fields(options);
    return Scorer(options);
  };
  std::string metric;
  request.read("metric", metric);
  if (metric == "bleu") return made_of(BleuOptions());
  if (metric == "chrf") return made_of(ChrfOptions());
  if (metric != "ter") throw UserError("metric '" + shown(metric) + "': one of bleu, chrf, ter");
  TerOptions ter;
  request.read("no_punct", ter.no_punctuation);
  return made_of(ter);
}

ServerOptions read_server(JsonRequest& request) {
  ServerOptions options;
  request.read_fields(options.translator);
  request.read_fields(options);
  request.finish(options.translator.decoding);
  return options;
}

}  // namespace
}  // namespace nmt::api

using namespace nmt::api;

extern "C" {

const char* nmt_version(void) { return NMT_VERSION_STRING; }

const char* nmt_error(void) { return t_shown; }

void nmt_free(char* text) { std::free(text); }

char* nmt_quoted(const char* text, size_t length) {
  char* quoted = nullptr;
  without_exceptions(
      [&] { quoted = copied_json(Json(std::string(length > 0 ? &required(text, "text") : "", length))); });
  return quoted;
}

nmt_status nmt_translator_create(const char* options, nmt_translator** translator) {
  if (translator) *translator = nullptr;
  return without_exceptions([&] {
    required(translator, "translator");
    JsonRequest request(options);
    TranslatorOptions wanted;
    request.read_fields(wanted);
    request.finish(wanted.decoding);
    *translator = new nmt_translator{Translator(wanted)};
  });
}

void nmt_translator_free(nmt_translator* translator) { delete translator; }

nmt_status nmt_translator_translate_text(const nmt_translator* translator, const char* text, char** translation) {
  if (translation) *translation = nullptr;
  return without_exceptions([&] {
    required(translation, "translation");
    *translation = copied(required(translator, "translator").translator.translate_one(&required(text, "text")));
  });
}

nmt_status nmt_translator_translate(const nmt_translator* translator, const char* request, nmt_callback callback,
                                    void* user, char** answer) {
  return answered(answer, Answer::kRequired, [&] {
    const Translator kept = required(translator, "translator").translator;
    JsonRequest wanted(request);
    const auto texts = read_texts(wanted);
    const auto options = read_translation(wanted, Listener(callback, user));
    Json translations = Json::array();
    for (const auto& translation : kept.translate_requests(texts, options))
      translations.push_back(to_json(translation, options));
    return Json{{"translations", std::move(translations)}};
  });
}

nmt_status nmt_translator_score(const nmt_translator* translator, const char* request, nmt_callback callback,
                                void* user, char** answer) {
  return answered(answer, Answer::kRequired, [&] {
    const Translator kept = required(translator, "translator").translator;
    JsonRequest wanted(request);
    std::vector<std::string> sources, targets;
    wanted.read("sources", sources);
    wanted.read("targets", targets);
    const auto options = read_translation(wanted, Listener(callback, user));
    Json alternatives = Json::array();
    for (const auto& alternative : kept.score(sources, targets, options))
      alternatives.push_back(to_json(alternative, options));
    return Json{{"alternatives", std::move(alternatives)}};
  });
}

nmt_status nmt_score(const char* request, char** answer) {
  return answered(answer, Answer::kRequired, [&] {
    JsonRequest wanted(request);
    const Scorer scorer = read_scorer(wanted);
    std::vector<std::string> hypotheses;
    References references;
    CorpusOptions options;
    bool sentence = false;
    wanted.read("hypotheses", hypotheses);
    wanted.read("references", references);
    wanted.read_fields(options);
    wanted.read("sentence", sentence);
    wanted.finish();
    if (!sentence) return to_json(scorer.corpus_score(hypotheses, references, options));
    if (hypotheses.size() != 1) throw UserError("sentence: is of one hypothesis; score several as a corpus");
    std::vector<std::string> of_sentence;
    for (const auto& set : references) of_sentence.insert(of_sentence.end(), set.begin(), set.end());
    return to_json(scorer.sentence_score(hypotheses.front(), of_sentence));
  });
}

nmt_status nmt_prepare(const char* request, nmt_callback callback, void* user, char** answer) {
  return answered(answer, Answer::kOptional, [&] {
    JsonRequest wanted(request);
    const Listener listener(callback, user);
    PrepareOptions options;
    wanted.read("configuration", options.configuration.file);
    wanted.read("settings", options.configuration.settings);
    wanted.read("overwrite", options.overwrite);
    wanted.finish();
    options.log = listener.log();
    options.stop = listener.stop();
    return fields_of(prepare(options));
  });
}

nmt_status nmt_train(const char* request, nmt_callback callback, void* user, char** answer) {
  return answered(answer, Answer::kOptional, [&] {
    JsonRequest wanted(request);
    const Listener listener(callback, user);
    TrainerOptions options;
    wanted.read("configuration", options.configuration.file);
    wanted.read("settings", options.configuration.settings);
    wanted.read("restart", options.restart);
    wanted.finish();
    if (callback) options.callbacks = callbacks_to([listener](const Json& event) { listener.tell(event); });
    options.log = listener.log();
    options.stop = listener.stop();
    const auto trained = Trainer(std::move(options)).run();
    Json result = fields_of(trained);
    if (trained.best) result["best"] = to_json(*trained.best);
    return result;
  });
}

nmt_status nmt_server_create(const char* options, nmt_callback callback, void* user, nmt_server** server) {
  if (server) *server = nullptr;
  return without_exceptions([&] {
    required(server, "server");
    JsonRequest request(options);
    ServerOptions wanted = read_server(request);
    wanted.log = Listener(callback, user).log();
    auto made = std::make_unique<nmt_server>(nmt_server{Server(wanted), {}});
    made->url = made->server.url();
    *server = made.release();
  });
}

const char* nmt_server_url(const nmt_server* server) { return server ? server->url.c_str() : ""; }

void nmt_server_free(nmt_server* server) { delete server; }

}  // extern "C"
