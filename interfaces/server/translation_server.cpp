#include "server/translation_server.h"

#include <utility>

#include "server/queue/fair_pool.h"
#include "server/records/metrics.h"
#include "server/service_routes.h"

namespace nmt {
namespace {

/// They read bodies and write answers; the translator has threads of its own.
constexpr int kWorkers = 2;

}  // namespace

class TranslationServer::Implementation {
 public:
  Implementation(LineTranslator translate, ServerOptions options, Logger& log)
      : service_(std::move(translate), std::move(options.service), log),
        access_log_(std::move(options.access_log)),
        routes_(service_, !options.http.tls.certificate.empty(), options.http.path_prefix, log) {
    options.http.always_answered = ServiceRoutes::always_answered();
    options.http.observe = [this](const HttpExchange& exchange) {
      service_.metrics().add_request(ServiceRoutes::route_of(exchange.path), exchange.status);
      access_log_.add(exchange);
    };
    http_ = std::make_unique<HttpServer>(
        [this](HttpRequest request, HttpReply reply) { answer(std::move(request), std::move(reply)); },
        std::move(options.http), log);
  }

  ~Implementation() { http_->stop(); }

  HttpServer& http() { return *http_; }
  TranslationService& service() { return service_; }
  AccessLog& access_log() { return access_log_; }

 private:
  void answer(HttpRequest request, HttpReply reply) {
    if (ServiceRoutes::is_quick(request)) return routes_.answer(request, reply);
    const auto client = request.client;
    const auto cancelled = request.cancelled;
    workers_.submit(client, cancelled,
                    [this, request = std::move(request), reply = std::move(reply)] { routes_.answer(request, reply); });
  }

  // An answer may be given until the service and the workers have ended: the server goes last.
  std::unique_ptr<HttpServer> http_;
  TranslationService service_;
  AccessLog access_log_;
  ServiceRoutes routes_;
  FairPool workers_{kWorkers, kWorkers};
};

TranslationServer::TranslationServer(LineTranslator translate, ServerOptions options, Logger& log)
    : implementation_(std::make_unique<Implementation>(std::move(translate), std::move(options), log)) {}
TranslationServer::~TranslationServer() = default;
int TranslationServer::port() const { return implementation_->http().port(); }
std::string TranslationServer::url() const { return implementation_->http().url(); }
void TranslationServer::stop() { implementation_->http().stop(); }
void TranslationServer::end_turns() { implementation_->service().end_turns(); }

TranslationServer::Parts TranslationServer::new_parts(std::vector<LanguagePair> pairs, LanguageAliases aliases) const {
  return {.languages = std::make_shared<const ServiceLanguages>(std::move(pairs), std::move(aliases)),
          .certificate = implementation_->http().read_certificate(),
          .access_log = implementation_->access_log().open()};
}

void TranslationServer::use(Parts parts) noexcept {
  implementation_->service().set_languages(std::move(parts.languages));
  implementation_->http().use_certificate(std::move(parts.certificate));
  implementation_->access_log().use(std::move(parts.access_log));
}

}  // namespace nmt
