#pragma once

#include <filesystem>
#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace nmt {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// PEM files: the certificate with those that vouch for it, and its private key (without a pass phrase).
struct TlsFiles {
  std::filesystem::path certificate = {}, key = {};
  bool wanted() const { return !certificate.empty() || !key.empty(); }
};

/// TLS 1.2 and 1.3 for a server of HTTP/1.1. Throws Error where a file cannot be used, or the two are no pair.
TlsContext make_tls_context(const TlsFiles& files);

}  // namespace nmt
