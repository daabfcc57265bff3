#include "nmt/server.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "library/inner/conversions.h"
#include "library/inner/guard.h"
#include "library/inner/settings.h"
#include "server/models/model_server.h"
#include "server/translation_server.h"

namespace nmt::api {
namespace {

nmt::ServiceConfig models_of(const ServerOptions& options) {
  if (!options.config_file.empty()) return read_service_config(options.config_file);
  const auto& models = options.translator.models;
  return {.models = {{.directories = {models.begin(), models.end()},
                      .weights = options.translator.weights,
                      .adapter = options.translator.adapter}}};
}

nmt::ModelPoolOptions pool_options(const ServerOptions& options) {
  return {.device = options.translator.device,
          .max_source_length = options.translator.max_source_length,
          .split_sentences = options.split_sentences,
          .changed = [settings = settings_of(options.translator.decoding)](
                         const nmt::Config& config) { return with_settings(config, settings); },
          .threads = threads_of_call(options.translator.threads),
          .is_guest = true};
}

nmt::ServerOptions inner_options(const ServerOptions& options, const nmt::ModelPool& pool) {
  nmt::ServerOptions inner;
  inner.http.address = Address::parse(options.address);
  inner.http.limits.answer = std::chrono::milliseconds(std::llround(options.time_limit * 1000));
  inner.http.access = {.allowed_hosts = options.allowed_hosts, .allowed_origin = options.allowed_origin};
  inner.http.tls = {options.tls_certificate, options.tls_key};
  auto& service = inner.service;
  service.pairs = pool.pairs();
  service.aliases = pool.aliases();
  if (!options.api_keys_file.empty())
    service.admission.keys = ApiKeys::from_file(options.api_keys_file);
  else if (!options.api_key.empty())
    service.admission.keys = ApiKeys::single(options.api_key);
  service.admission.limit = {options.requests_per_minute, options.characters_per_minute};
  if (options.max_characters > 0) service.admission.max_characters = options.max_characters;
  service.max_n_best = pool.max_n_best();
  service.queue.max_waiting = options.queue_lines;
  service.queue.max_batch = pool.batch_size() * threads_of_call(options.translator.threads);
  inner.access_log = options.access_log;
  return inner;
}

void check_limit(std::string_view option, int64_t limit, std::string_view zero) {
  if (limit < 0) throw nmt::Error(fmt::format("{} {}: use 1 or more, or 0 for {}", option, limit, zero));
}

void check_server(const ServerOptions& options) {
  if (options.config_file.empty() == options.translator.models.empty())
    throw nmt::Error("a server: name the model directories, or a config_file; one of them");
  if (!options.api_key.empty() && !options.api_keys_file.empty())
    throw nmt::Error("api_key and api_keys_file: give one of them");
  if (!(options.time_limit > 0 && options.time_limit < 1e6))
    throw nmt::Error(fmt::format("time_limit {}: seconds, more than 0", options.time_limit));
  check_limit("max_characters", options.max_characters, "as many as nmt-translate takes");
  check_limit("requests_per_minute", options.requests_per_minute, "no limit");
  check_limit("characters_per_minute", options.characters_per_minute, "no limit");
  if (options.queue_lines < 1) throw nmt::Error(fmt::format("queue_lines {}: use 1 or more", options.queue_lines));
}

}  // namespace

class NMT_NOT_EXPORTED Server::State {
 public:
  explicit State(const ServerOptions& options) : log_((check_server(options), logger_to(options.log))) {
    server_ = std::make_unique<nmt::ModelServer>(
        nmt::ModelServer::Parts{
            .load =
                [options, log = log_] {
                  return std::make_shared<nmt::ModelPool>(models_of(options), pool_options(options), *log);
                },
            .options = [options](const nmt::ModelPool& pool) { return inner_options(options, pool); }},
        *log_);
    if (server_->is_open())
      log_->warn("everybody who can reach this machine may use the service: api_key asks for a key");
  }

  std::string url() const { return server_->url(); }
  int port() const { return server_->port(); }
  void stop() {
    const std::lock_guard lock(mutex_);
    server_->stop();
  }
  void reload() {
    const std::lock_guard lock(mutex_);
    server_->reload();
  }

 private:
  const std::shared_ptr<nmt::Logger> log_;
  std::mutex mutex_;
  std::unique_ptr<nmt::ModelServer> server_;
};

Server::Server(const ServerOptions& options) {
  guarded([&] { state_ = std::make_unique<State>(options); });
}

namespace {

template <typename State>
State& present(const std::unique_ptr<State>& state) {
  return *guarded([&] {
    if (!state) throw nmt::Error("this server was moved from");
    return state.get();
  });
}

}  // namespace

Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

std::string Server::url() const { return present(state_).url(); }
int Server::port() const { return present(state_).port(); }
void Server::stop() {
  guarded([&] { present(state_).stop(); });
}
void Server::reload() {
  guarded([&] { present(state_).reload(); });
}

}  // namespace nmt::api
