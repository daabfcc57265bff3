#include "server/service_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <map>
#include <optional>
#include <span>

#include "base/unicode.h"
#include "server/http/form.h"
#include "server/http/http_message.h"
#include "server/page/page.h"
#include "server/request_body.h"

namespace nmt {
namespace {

constexpr std::array<std::string_view, 6> kGetRoutes = {"/",       "/languages", "/frontend/settings",
                                                        "/health", "/metrics",   "/spec"};
constexpr std::array<std::string_view, 5> kPostRoutes = {"/translate", "/translate_file", "/explain", "/detect",
                                                         "/suggest"};
constexpr std::string_view kDownloads = "/download_file/", kPageFiles = "/page/";

/// The page loads the files below /page/ and nothing from elsewhere. Script and style within it, and within what a
/// translation brings, do nothing; and where a script makes a text HTML, the browser refuses it (trusted types).
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

bool is_route(std::span<const std::string_view> routes, std::string_view path) {
  return std::ranges::find(routes, path) != routes.end();
}

bool is_get_route(std::string_view path) {
  return is_route(kGetRoutes, path) || path.starts_with(kDownloads) || path.starts_with(kPageFiles);
}

/// Whether a header's value is this media type, whatever its parameters.
bool is_type(std::string_view value, std::string_view type) {
  const std::string_view own = value.substr(0, value.find(';'));
  return same_ignoring_case(own.substr(0, own.find_last_not_of(" \t") + 1), type);
}

RequestBody body_of(const HttpRequest& request) {
  const std::string_view type = request.field("Content-Type");
  if (is_type(type, "application/json")) return RequestBody::from_json(request.body);
  auto fields = parse_form(request.query);
  if (is_type(type, "multipart/form-data")) {
    for (const FormPart& part : parse_multipart(request.body, type)) fields.emplace(part.name, part.content);
  } else if (is_type(type, "application/x-www-form-urlencoded")) {
    fields.merge(parse_form(request.body));
  } else if (!request.body.empty()) {
    throw RequestError(415, "send JSON (Content-Type: application/json) or a form");
  }
  return RequestBody::from_form(fields);
}

/// "Authorization: Bearer KEY".
std::string key_of(const HttpRequest& request) {
  const std::string_view value = request.field("Authorization");
  constexpr std::string_view kScheme = "Bearer ";
  return same_ignoring_case(value.substr(0, kScheme.size()), kScheme) ? std::string(value.substr(kScheme.size())) : "";
}

HttpResponse no_such_route(const HttpRequest& request) {
  const bool get = is_get_route(request.path);
  if (get || is_route(kPostRoutes, request.path)) {
    auto response = HttpResponse::error(405, fmt::format("{}: send it by {}", request.path, get ? "GET" : "POST"));
    response.fields.emplace_back("Allow", get ? "GET, HEAD" : "POST");
    return response;
  }
  return HttpResponse::error(
      404, fmt::format("{}: no such page; there are GET {}, {}NAME, {}NAME and POST {}", request.path,
                       fmt::join(kGetRoutes, ", "), kPageFiles, kDownloads, fmt::join(kPostRoutes, ", ")));
}

}  // namespace

std::string ServiceRoutes::route_of(std::string_view path) {
  for (const std::string_view folder : {kDownloads, kPageFiles})
    if (path.starts_with(folder)) return std::string(folder.substr(0, folder.size() - 1));
  return is_route(kGetRoutes, path) || is_route(kPostRoutes, path) ? std::string(path) : "other";
}

bool ServiceRoutes::is_quick(const HttpRequest& request) {
  return !request.path.starts_with(kDownloads) && !(request.method == "POST" && is_route(kPostRoutes, request.path));
}

void ServiceRoutes::answer(const HttpRequest& request, const HttpReply& reply) const {
  try {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (reads && is_get_route(request.path)) return get(request, reply);
    if (request.method == "POST" && is_route(kPostRoutes, request.path)) return post(request, reply);
    if (request.method == "OPTIONS") return reply({.status = 204});
    reply(no_such_route(request));
  } catch (const RequestError& refused) {
    reply(error_response(refused));
  } catch (const std::exception& failure) {
    log_.error("a request failed: {}", failure.what());
    reply(HttpResponse::error(500, "the request failed; the server's log says why"));
  }
}

void ServiceRoutes::get(const HttpRequest& request, const HttpReply& reply) const {
  if (request.path == "/") return page(request, "page.html", reply);
  if (request.path.starts_with(kPageFiles)) return page(request, request.path.substr(kPageFiles.size()), reply);
  if (request.path.starts_with(kDownloads)) return download(request, reply);
  if (request.path == "/languages") return reply(json_response(service_.languages()));
  if (request.path == "/frontend/settings") return reply(json_response(service_.settings()));
  if (request.path == "/spec")
    return reply({.content_type = "application/json; charset=utf-8", .body = openapi_json()});
  if (request.path == "/health") return reply(json_response({{"status", "ok"}}));
  reply({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = service_.metrics_text()});
}

/// A browser keeps the files, and asks each time whether they are still the same.
void ServiceRoutes::page(const HttpRequest& request, const std::string& name, const HttpReply& reply) {
  const PageFile* const file = page_file(name);
  if (!file) return reply(HttpResponse::error(404, fmt::format("{}: the page has no such file", request.path)));
  HttpResponse response{.fields = {{"ETag", file->tag},
                                   {"Cache-Control", "no-cache"},
                                   {"Content-Security-Policy", kPagePolicy},
                                   {"Referrer-Policy", "same-origin"}}};
  if (request.field("If-None-Match") == file->tag) {
    response.status = 304;
    return reply(std::move(response));
  }
  response.content_type = file->media_type;
  response.body = file->text;
  reply(std::move(response));
}

void ServiceRoutes::download(const HttpRequest& request, const HttpReply& reply) const {
  const auto found = service_.download(request.path.substr(kDownloads.size()));
  if (!found) return reply(HttpResponse::error(404, "there is no such document, or not any more"));
  reply({.content_type = found->media_type,
         .body = found->bytes,
         .fields = {
             {"Content-Disposition", fmt::format("attachment; filename*=UTF-8''{}", percent_encoded(found->file_name))},
             {"Cache-Control", "no-store"}}});
}

void ServiceRoutes::post(const HttpRequest& request, const HttpReply& reply) const {
  const Caller caller{
      .address = request.client, .key = key_of(request), .cancelled = request.cancelled, .share = request.share};
  if (request.path == "/translate_file") return file(request, caller, reply);
  const RequestBody body = body_of(request);
  if (request.path == "/translate") return service_.translate(body, caller, reply);
  if (request.path == "/explain") return service_.explain(body, caller, reply);
  reply(json_response(request.path == "/detect" ? service_.detect(body, caller) : service_.suggest(body, caller)));
}

void ServiceRoutes::file(const HttpRequest& request, const Caller& caller, const HttpReply& reply) const {
  if (!is_type(request.field("Content-Type"), "multipart/form-data"))
    throw RequestError(400, "Invalid request: missing file parameter: send a form in parts (multipart/form-data)");
  std::map<std::string, std::string> fields;
  std::optional<UploadedFile> upload;
  for (const FormPart& part : parse_multipart(request.body, request.field("Content-Type"))) {
    if (part.name == "file")
      upload = {part.file_name, part.content};
    else
      fields.emplace(part.name, part.content);
  }
  if (!upload || upload->name.empty()) throw RequestError(400, "Invalid request: missing file parameter");
  service_.translate_file(*upload, RequestBody::from_form(fields), caller, base_url(request), reply);
}

/// "https://translate.example/mt", as the client knows this server, also one behind proxies: what they forward comes
/// first. Without a host where none is usable: then an address is relative to this one.
std::string ServiceRoutes::base_url(const HttpRequest& request) const {
  /// The first of a list, which the client's own proxy wrote; empty where it has other characters than `special`.
  const auto forwarded = [&](const char* name, std::string_view special) {
    std::string_view value = request.field(name);
    value = strip(value.substr(0, value.find(',')));
    const auto usable = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || special.find(c) != std::string_view::npos;
    };
    return std::ranges::all_of(value, usable) ? value : std::string_view();
  };
  constexpr const char* kOfHost = ".-:[]";
  std::string_view host = forwarded("X-Forwarded-Host", kOfHost);
  if (host.empty()) host = forwarded("Host", kOfHost);
  std::string_view prefix = forwarded("X-Forwarded-Prefix", "/-._~%");
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.starts_with('/')) prefix = path_prefix_;
  if (host.empty()) return std::string(prefix);
  const bool https = encrypted_ || same_ignoring_case(forwarded("X-Forwarded-Proto", ""), "https");
  return fmt::format("{}://{}{}", https ? "https" : "http", host, prefix);
}

}  // namespace nmt
