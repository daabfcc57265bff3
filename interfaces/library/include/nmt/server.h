#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmt/error.h"
#include "nmt/export.h"
#include "nmt/log.h"
#include "nmt/translator.h"

NMT_API_BEGIN

/// A translation service over HTTP with LibreTranslate's interface: `nmt-translate --serve` (docs/serving.md).
struct ServerOptions {
  std::string address = "127.0.0.1:0";  ///< HOST:PORT, or PORT alone; port 0: a free one
  TranslatorOptions translator = {};    ///< the model; left out where config_file is given
  std::string config_file = {};         ///< YAML that names several models: docs/serving.md, Several models
  /// Texts are paragraphs: their sentences are translated one by one. Unset: where the model's lines are sentences.
  std::optional<bool> split_sentences = {};
  std::string api_key = {};                        ///< clients must send it; empty: everybody is served
  std::string api_keys_file = {};                  ///< keys with their limits, instead
  std::string tls_certificate = {}, tls_key = {};  ///< PEM files: answer over HTTPS
  std::string allowed_origin = {};                 ///< web pages of this origin may use the service; *: all
  std::vector<std::string> allowed_hosts = {};     ///< further names by which a local address may be asked
  std::int64_t requests_per_minute = 0, characters_per_minute = 0;  ///< of one address; 0: no limit
  double time_limit = 30;                                           ///< seconds from a request to its answer
  std::int64_t queue_lines = 1024;                                  ///< lines that may wait for the translator
  std::int64_t max_characters = 0;                                  ///< of a request; 0: as nmt-translate
  std::string access_log = {};                                      ///< a line of JSON a request, without its text
  LogSink log = {};                                                 ///< hears of what happens
};

/// It listens from construction to stop(), in threads of its own. Its functions may be called by any thread.
class NMT_EXPORT Server {
 public:
  /// Throws UserError for a folder that is no model, options out of range, an address that cannot be listened on.
  explicit Server(const ServerOptions& options);
  ~Server();                             ///< stop()
  Server(Server&&) noexcept;             ///< the other one serves nothing then
  Server& operator=(Server&&) noexcept;  ///< stops this one first

  std::string url() const;  ///< "http://127.0.0.1:8080"
  int port() const;         ///< the one that it listens on
  /// Takes no more connections, answers the requests that have come in, and ends, after some seconds at most.
  void stop();
  /// Reads models and certificates again. Throws UserError where they are not as they should be: then all stays.
  void reload();

 private:
  class State;
  std::unique_ptr<State> state_;
};

NMT_API_END
