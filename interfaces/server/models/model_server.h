#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/process/log.h"
#include "server/models/model_pool.h"
#include "server/translation_server.h"

namespace nmt {

/// A TranslationServer and the models behind it, which can be read again.
class ModelServer {
 public:
  struct Parts {
    /// Loads the models; throws Error.
    std::function<std::shared_ptr<ModelPool>()> load;
    std::function<ServerOptions(const ModelPool&)> options;
  };
  /// Loads the models and listens. Borrows log. Throws Error.
  ModelServer(Parts parts, Logger& log);
  ~ModelServer();

  std::string url() const;
  int port() const;
  bool is_open() const;  ///< to everybody who can reach the machine: no keys, and no local address
  /// Reads models and certificates again. What comes in later is answered by the new models; the old ones end what they
  /// have begun. What it throws leaves all as it was.
  void reload();
  void stop();  ///< see TranslationServer

 private:
  class Current;
  Parts parts_;
  std::unique_ptr<Current> pool_;
  bool open_ = false;
  std::unique_ptr<TranslationServer> server_;  // uses the others: goes first
};

}  // namespace nmt
