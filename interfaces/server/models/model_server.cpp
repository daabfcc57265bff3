#include "server/models/model_server.h"

#include <mutex>
#include <utility>

namespace nmt {

/// Models that can be replaced while others use them.
class ModelServer::Current {
 public:
  explicit Current(std::shared_ptr<ModelPool> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<ModelPool> get() const {
    const std::lock_guard lock(mutex_);
    return pool_;
  }
  void set(std::shared_ptr<ModelPool> pool) noexcept {
    const std::lock_guard lock(mutex_);
    pool_.swap(pool);  // the old one ends behind the lock
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<ModelPool> pool_;
};

ModelServer::ModelServer(Parts parts, Logger& log)
    : parts_(std::move(parts)), pool_(std::make_unique<Current>(parts_.load())) {
  ServerOptions options = parts_.options(*pool_->get());
  open_ = options.service.admission.keys.empty() && !options.http.address.is_local();
  const auto serve = [pool = pool_.get()](const LanguagePair& pair, TranslationQueue& lines) {
    pool->get()->serve(pair, lines);
  };
  server_ = std::make_unique<TranslationServer>(serve, std::move(options), log);
}

ModelServer::~ModelServer() = default;
std::string ModelServer::url() const { return server_->url(); }
int ModelServer::port() const { return server_->port(); }
bool ModelServer::is_open() const { return open_; }
void ModelServer::stop() { server_->stop(); }

void ModelServer::reload() {
  const auto fresh = parts_.load();
  auto parts = server_->new_parts(fresh->pairs(), fresh->aliases());
  // All is made: from here nothing throws.
  pool_->set(fresh);
  server_->use(std::move(parts));
  server_->end_turns();  // else the old ones continue as long as lines come
}

}  // namespace nmt
