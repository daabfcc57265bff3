#include "server/http/http_options.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"

namespace nmt {

Address Address::parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos;
  const std::string_view digits = std::string_view(text).substr(named ? colon + 1 : 0);
  Address address;
  if (named && colon > 0) address.host = text.substr(0, colon);
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || address.port < 0 || address.port > 65535 ||
      address.host.empty() || (!bracketed && address.host.find(':') != std::string::npos)) {
    throw Error(fmt::format("'{}' is no address: use HOST:PORT, [IPv6]:PORT or PORT, such as localhost:8080", text));
  }
  return address;
}

bool Address::is_local() const {
  in_addr numbers{};  // "127.evil.example" is no number
  if (::inet_pton(AF_INET, host.c_str(), &numbers) == 1) return host.starts_with("127.");
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost" || host == "localhost." || host.ends_with(".localhost");
}

std::string Address::url(const std::string& scheme) const {
  return host.find(':') == std::string::npos ? fmt::format("{}://{}:{}", scheme, host, port)
                                             : fmt::format("{}://[{}]:{}", scheme, host, port);
}

namespace {

/// "host:8080" -> "host", "[::1]:8080" -> "::1".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

/// "https://host:8080" -> "host:8080"; empty for what is none, such as "null".
std::string_view host_of_origin(std::string_view origin) {
  const size_t colon = origin.find("://");
  return colon == std::string_view::npos ? std::string_view() : origin.substr(colon + 3);
}

}  // namespace

void AccessOptions::validate() const {
  for (const auto& host : allowed_hosts)
    if (host.empty() || host.find('/') != std::string::npos)
      throw Error(fmt::format(
          "--allow-host '{}': is no name of a host; write it as example.org, or example.org:8080; * for all", host));
  if (allowed_origin.empty() || allowed_origin == "*" || allowed_origin == "null") return;
  const auto host = host_of_origin(allowed_origin);
  if (host.empty() || host.find('/') != std::string_view::npos)
    throw Error(fmt::format(
        "--allow-origin {}: is no origin, which is a scheme, a name and perhaps a port: https://example.org; * for all",
        allowed_origin));
}

AccessRules::AccessRules(AccessOptions options, const Address& address)
    : options_(std::move(options)), local_(address.is_local()) {
  for (char& c : options_.allowed_origin) c = ascii_lower(c);  // as browsers send it
}

bool AccessRules::known_host(std::string_view host) const {
  const std::string name(without_port(host));
  if (Address{.host = name}.is_local()) return true;
  return std::ranges::any_of(options_.allowed_hosts, [&](const std::string& allowed) {
    return allowed == "*" || same_ignoring_case(allowed, name) || same_ignoring_case(allowed, host);
  });
}

std::optional<HttpResponse> AccessRules::refusal(const HttpRequest& request) const {
  const std::string_view host = request.field("Host");
  if (local_ && !host.empty() && !known_host(host)) {
    return HttpResponse::error(
        421, fmt::format("this server is for its own machine: '{}' is no name for it (--allow-host adds one)", host));
  }
  const std::string_view origin = request.field("Origin");
  if (origin.empty() || request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS") return {};
  const bool own = same_ignoring_case(host_of_origin(origin), host);
  if (own || options_.allowed_origin == "*" || origin == options_.allowed_origin) return {};
  if (!local_ && options_.allowed_origin.empty()) return {};  // anybody can send such a request without a browser
  return HttpResponse::error(
      403, fmt::format("pages of '{}' may not use this server (--allow-origin allows an origin)", origin));
}

HttpFields AccessRules::fields() const {
  HttpFields fields = {{"X-Content-Type-Options", "nosniff"}};
  if (options_.allowed_origin.empty()) return fields;
  fields.emplace_back("Access-Control-Allow-Origin", options_.allowed_origin);
  fields.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  fields.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  return fields;
}

namespace {

/// Clients that ask for a protocol get HTTP/1.1 or, where they offer only others, none.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
                    unsigned int in_length, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_length, kOurs, sizeof kOurs - 1, in, in_length);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

std::string read_pem(const char* option, const std::filesystem::path& file) {
  constexpr size_t kLargest = 1 << 20;  // bytes
  try {
    return read_regular_file(file, kLargest);
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}", option, error.what()));
  }
}

void require(const boost::system::error_code& error, const char* option, const std::filesystem::path& file,
             std::string_view what) {
  if (error) throw Error(fmt::format("{} {}: not usable as {} ({})", option, file.string(), what, error.message()));
}

}  // namespace

void HttpServerOptions::validate() const {
  limits.validate();
  access.validate();
  const auto of_no_path = [](char c) { return c <= ' ' || c == '?' || c == '#' || c == '"' || c == '\\'; };
  if (!path_prefix.empty() &&
      (!path_prefix.starts_with('/') || path_prefix.ends_with('/') || std::ranges::any_of(path_prefix, of_no_path)))
    throw Error(fmt::format("--url-prefix '{}': is no path below which a proxy serves; write it as /translate",
                            printable(path_prefix)));
}

TlsContext make_tls_context(const TlsFiles& files) {
  namespace ssl = boost::asio::ssl;
  if (files.certificate.empty() || files.key.empty())
    throw Error("TLS takes a certificate and its key: give both --tls-certificate and --tls-key");
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                       ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::no_compression);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);  // idle connections keep no buffers
  SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
  boost::system::error_code error;
  // Without this a key with a pass phrase would ask for it on the terminal.
  context->set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); }, error);
  const auto certificate = read_pem("--tls-certificate", files.certificate), key = read_pem("--tls-key", files.key);
  context->use_certificate_chain(boost::asio::buffer(certificate), error);
  require(error, "--tls-certificate", files.certificate, "certificate: PEM with the chain is expected");
  context->use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
  require(error, "--tls-key", files.key,
          fmt::format("private key of {}: PEM without a pass phrase is expected", files.certificate.string()));
  return context;
}

}  // namespace nmt
