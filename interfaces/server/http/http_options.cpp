#include "server/http/http_options.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
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
