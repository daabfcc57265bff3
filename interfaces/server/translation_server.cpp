#include "server/translation_server.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

#include "server/records/access_log.h"
#include "server/service_routes.h"

namespace nmt {
namespace {

/// They read bodies and write answers; the translator has threads of its own.
constexpr size_t kWorkers = 2;

}  // namespace

class TranslationServer::Implementation {
 public:
  Implementation(LineTranslator translate, ServerOptions options, Logger& log)
      : service_(std::move(translate), std::move(options.service), log),
        access_log_(std::move(options.access_log)),
        routes_(service_, !options.http.tls.certificate.empty(), log) {
    options.http.always_answered = ServiceRoutes::always_answered();
    options.http.observe = [this](const HttpExchange& exchange) {
      service_.metrics().add_request(ServiceRoutes::route_of(exchange.path), exchange.status);
      access_log_.add(exchange);
    };
    http_ = std::make_unique<HttpServer>(
        [this](HttpRequest request, HttpReply reply) { answer(std::move(request), std::move(reply)); },
        std::move(options.http), log);
  }

  ~Implementation() {
    http_->stop();
    workers_.join();
  }

  HttpServer& http() { return *http_; }
  TranslationService& service() { return service_; }
  AccessLog& access_log() { return access_log_; }

 private:
  void answer(HttpRequest request, HttpReply reply) {
    if (ServiceRoutes::is_quick(request)) return routes_.answer(request, reply);
    boost::asio::post(workers_, [this, request = std::move(request), reply = std::move(reply)] {
      if (!request.given_up.stop_requested()) routes_.answer(request, reply);
    });
  }

  // An answer may be given until the service and the workers have ended: the server goes last.
  std::unique_ptr<HttpServer> http_;
  TranslationService service_;
  AccessLog access_log_;
  ServiceRoutes routes_;
  boost::asio::thread_pool workers_{kWorkers};
};

TranslationServer::TranslationServer(LineTranslator translate, ServerOptions options, Logger& log)
    : implementation_(std::make_unique<Implementation>(std::move(translate), std::move(options), log)) {}
TranslationServer::~TranslationServer() = default;
int TranslationServer::port() const { return implementation_->http().port(); }
std::string TranslationServer::url() const { return implementation_->http().url(); }
void TranslationServer::stop() { implementation_->http().stop(); }
void TranslationServer::set_languages(std::vector<LanguagePair> pairs, LanguageAliases aliases) {
  implementation_->service().set_languages(std::move(pairs), std::move(aliases));
}
void TranslationServer::end_turns() { implementation_->service().end_turns(); }
void TranslationServer::reload_files() {
  implementation_->access_log().reopen();
  implementation_->http().reload_certificate();
}

}  // namespace nmt
