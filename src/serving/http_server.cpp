#include "serving/http_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "serving/page.h"
#include "serving/request_error.h"

namespace nmt {
namespace {

constexpr std::array kGetRoutes = {"/", "/languages", "/frontend/settings", "/health", "/metrics"};
constexpr std::array kPostRoutes = {"/translate", "/explain", "/detect"};
constexpr const char* kJson = "application/json; charset=utf-8";

/// The page has its style and script inside and loads nothing from elsewhere.
constexpr const char* kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool is_route(std::span<const char* const> routes, const std::string& path) {
  return std::find(routes.begin(), routes.end(), path) != routes.end();
}

void reply_json(httplib::Response& response, const nlohmann::ordered_json& json) {
  // A model may write bytes that are no UTF-8.
  response.set_content(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), kJson);
}

void reply_error(httplib::Response& response, int status, const std::string& message) {
  response.status = status;
  if (status == 503) response.set_header("Retry-After", "1");
  reply_json(response, {{"error", message}});
}

/// httplib's server with what it does not offer: a longer queue of the system for connections that come at once.
class Server : public httplib::Server {
 public:
  void lengthen_backlog() { ::listen(svr_sock_, 512); }
};

/// Two servers on one port would share the requests: httplib's default (SO_REUSEPORT) allows it.
void socket_options(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(TranslateFunction translate, ServerOptions options, Logger& log)
      : options_((options.validate(), std::move(options))),
        log_(log),
        service_(std::move(translate), options_.service, log) {
    configure();
    add_routes();
    bind();
    listener_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // Before that stop() would do nothing.
    while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Implementation() { stop(); }

  void stop() {
    if (!listener_.joinable()) return;
    server_.stop();
    listener_.join();
  }

  const Address& address() const { return options_.address; }
  bool listening() const { return !ended_; }

 private:
  using Handler = std::function<nlohmann::ordered_json(const RequestBody&)>;

  void configure() {
    server_.new_task_queue = [count = options_.connections] { return new httplib::ThreadPool(count); };
    server_.set_socket_options(socket_options);
    server_.set_tcp_nodelay(true);  // head and body are written one after the other
    server_.set_keep_alive_max_count(1000);
    server_.set_keep_alive_timeout(5);
    httplib::Headers headers = {{"X-Content-Type-Options", "nosniff"}};
    if (!options_.allowed_origin.empty()) {
      headers.emplace("Access-Control-Allow-Origin", options_.allowed_origin);
      headers.emplace("Access-Control-Allow-Headers", "Content-Type");
      headers.emplace("Access-Control-Allow-Methods", "GET, POST");
    }
    server_.set_default_headers(headers);
    server_.set_exception_handler([this](const auto&, httplib::Response& response, std::exception_ptr error) {
      try {
        std::rethrow_exception(error);
      } catch (const RequestError& refused) {
        reply_error(response, refused.status(), refused.what());
      } catch (const std::exception& failure) {
        log_.error("a request failed: {}", failure.what());
        reply_error(response, 500, "the request failed; the server's log says why");
      }
    });
    server_.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (response.body.empty()) explain_status(request, response);
    });
    // Before the answer is sent, so that whoever has it finds it counted.
    server_.set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const bool known = is_route(kGetRoutes, request.path) || is_route(kPostRoutes, request.path);
      service_.metrics().add_request(known ? request.path : "other", response.status);
    });
  }

  /// For what httplib itself refuses: no such route, or no HTTP.
  static void explain_status(const httplib::Request& request, httplib::Response& response) {
    const bool get = is_route(kGetRoutes, request.path), post = is_route(kPostRoutes, request.path);
    if (response.status == 404 && (get || post)) {
      response.set_header("Allow", get ? "GET, HEAD" : "POST");
      return reply_error(response, 405, fmt::format("{}: send it by {}", request.path, get ? "GET" : "POST"));
    }
    if (response.status != 404) return reply_error(response, response.status, "the request is not understood");
    reply_error(response, 404,
                fmt::format("{}: no such page; there are GET {} and POST {}", request.path, fmt::join(kGetRoutes, ", "),
                            fmt::join(kPostRoutes, ", ")));
  }

  void add_routes() {
    server_.Get("/", [](const auto&, httplib::Response& response) {
      response.set_header("Content-Security-Policy", kPagePolicy);
      response.set_content(page_html(), "text/html; charset=utf-8");
    });
    server_.Get("/languages", [this](const auto&, auto& response) { reply_json(response, service_.languages()); });
    server_.Get("/frontend/settings",
                [this](const auto&, auto& response) { reply_json(response, service_.settings()); });
    server_.Get("/health", [](const auto&, auto& response) { reply_json(response, {{"status", "ok"}}); });
    server_.Get("/metrics", [this](const auto&, httplib::Response& response) {
      response.set_content(service_.metrics_text(), "text/plain; version=0.0.4; charset=utf-8");
    });
    server_.Options(".*", [](const auto&, httplib::Response& response) { response.status = 204; });
    post("/translate", [this](const RequestBody& body) { return service_.translate(body); });
    post("/explain", [this](const RequestBody& body) { return service_.explain(body); });
    server_.Post("/detect", [this](const httplib::Request& request, httplib::Response&, const auto& reader) {
      read_body(request, reader);
      throw RequestError(404, "languages are not detected here: a model translates from one language, see /languages");
    });
    // The rest is read within our limits and dropped; httplib would keep all of it in memory.
    const auto refuse = [this](const httplib::Request& request, httplib::Response& response, const auto& reader) {
      read_body(request, reader);
      response.status = 404;
      explain_status(request, response);
    };
    constexpr const char* kAny = R"([\s\S]*)";
    server_.Post(kAny, refuse).Put(kAny, refuse).Patch(kAny, refuse).Delete(kAny, refuse);
    server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      const bool known = request.method != "CONNECT" && request.method != "TRACE" && request.method != "PRI";
      if (known) return Server::HandlerResponse::Unhandled;
      response.status = 405;
      return Server::HandlerResponse::Handled;
    });
  }

  void post(const char* route, Handler handler) {
    server_.Post(route, [this, handler = std::move(handler)](const httplib::Request& request,
                                                             httplib::Response& response, const auto& reader) {
      reply_json(response, handler(to_request(request, read_body(request, reader))));
    });
  }

  /// What came, as bytes.
  struct Body {
    std::string text;
    std::map<std::string, std::string> parts;  ///< of a form in parts, as curl -F sends it
  };

  /// Reads all of the body, so that the connection can be used on, but keeps no more of it than is allowed.
  Body read_body(const httplib::Request& request, const httplib::ContentReader& reader) const {
    Body body;
    int64_t size = 0;
    const auto append = [&](std::string& place, const char* bytes, size_t count) {
      size += static_cast<int64_t>(count);
      if (size <= options_.max_body_bytes) place.append(bytes, count);
      return true;
    };
    bool whole = true;
    if (request.is_multipart_form_data()) {
      std::string* part = nullptr;
      whole = reader(
          [&](const httplib::MultipartFormData& head) {
            part = std::ssize(body.parts) < 100 ? &body.parts[head.name] : &body.text;
            return true;
          },
          [&](const char* bytes, size_t count) { return append(*part, bytes, count); });
    } else if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) {
      whole = reader([&](const char* bytes, size_t count) { return append(body.text, bytes, count); });
    }
    if (size > options_.max_body_bytes)
      throw RequestError(413, fmt::format("the request is too long: at most {} bytes", options_.max_body_bytes));
    if (!whole) throw RequestError(400, "the body of the request cannot be read");
    return body;
  }

  static RequestBody to_request(const httplib::Request& request, const Body& body) {
    const std::string type = request.get_header_value("Content-Type");
    if (request.is_multipart_form_data()) return RequestBody::from_form(body.parts);
    if (type.starts_with("application/x-www-form-urlencoded")) return RequestBody::from_form(parse_form(body.text));
    if (type.starts_with("application/json")) return RequestBody::from_json(body.text);
    throw RequestError(415, "send JSON (Content-Type: application/json) or a form");
  }

  void bind() {
    errno = 0;
    Address& address = options_.address;
    const int port = address.port == 0                                  ? server_.bind_to_any_port(address.host)
                     : server_.bind_to_port(address.host, address.port) ? address.port
                                                                        : -1;
    if (port < 0)
      throw Error(fmt::format("{}: cannot listen there ({}); choose another host or port", address.url(),
                              errno == 0 ? "no such host" : std::strerror(errno)));
    address.port = port;
    server_.lengthen_backlog();
  }

  ServerOptions options_;
  Logger& log_;
  TranslationService service_;
  Server server_;
  std::atomic<bool> ended_ = false;
  std::thread listener_;
};

void ServerOptions::validate() const {
  if (max_body_bytes < 1) throw Error(fmt::format("requests of {} bytes: use 1 or more", max_body_bytes));
  if (connections < 1) throw Error(fmt::format("{} connections: use 1 or more", connections));
  service.validate();
}

HttpServer::HttpServer(TranslateFunction translate, ServerOptions options, Logger& log)
    : implementation_(std::make_unique<Implementation>(std::move(translate), std::move(options), log)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return implementation_->address().port; }
bool HttpServer::listening() const { return implementation_->listening(); }
std::string HttpServer::url() const { return implementation_->address().url(); }
void HttpServer::stop() { implementation_->stop(); }

}  // namespace nmt
