#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/process/log.h"
#include "server/http/http_server.h"
#include "server/translation_service.h"

namespace nmt {

struct ServerOptions {
  HttpServerOptions http = {};
  ServiceOptions service = {};
  std::string access_log = {};  ///< file of AccessLog
};

/// A TranslationService over HTTP: nmt-translate --serve. It listens from construction to stop().
class TranslationServer {
 public:
  /// Borrows log. Throws Error for options out of range and where the address cannot be listened on.
  TranslationServer(LineTranslator translate, ServerOptions options, Logger& log);
  ~TranslationServer();  ///< stop()

  int port() const;         ///< the one in use, where the options said 0
  std::string url() const;  ///< "http://127.0.0.1:8080"
  /// Takes no more connections, answers the requests that have come in, and ends, after some seconds at most.
  void stop();
  void end_turns();  ///< see RequestQueue

  /// What a reload puts in place of what the server has.
  struct Parts {
    std::shared_ptr<const ServiceLanguages> languages;
    TlsContext certificate;
    FileDescriptor access_log;
  };
  /// These languages, the files of the certificate read again, and that of the access log opened again. Throws Error,
  /// and changes nothing.
  Parts new_parts(std::vector<LanguagePair> pairs, LanguageAliases aliases) const;
  void use(Parts parts) noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nmt
