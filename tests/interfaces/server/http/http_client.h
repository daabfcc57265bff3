#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "server/http/http_message.h"

namespace nmt::test {

/// What a server sent; status 0 where it closed the connection instead.
struct ClientResponse {
  int status = 0;
  HttpFields fields = {};
  std::string body = {};
  std::string field(std::string_view name) const {
    for (const auto& [own, value] : fields) {
      if (same_ignoring_case(own, name)) return value;
    }
    return {};
  }
};

/// A connection to 127.0.0.1 that sends any bytes, right or wrong, and reads what comes.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  /// False where the server takes no more.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// The next answer; its body is not read for an answer to HEAD.
  ClientResponse read(bool head_only = false) {
    size_t end = 0;
    while ((end = bytes_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return {};
    }
    ClientResponse response{.status = std::atoi(bytes_.c_str() + 9)};
    std::string_view head = std::string_view(bytes_).substr(0, end);
    for (size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n")) {
      head.remove_prefix(line + 2);
      const size_t colon = head.find(": ");
      response.fields.emplace_back(head.substr(0, colon), head.substr(colon + 2, head.find("\r\n") - colon - 2));
    }
    bytes_.erase(0, end + 4);
    if (response.field("Transfer-Encoding") == "chunked" && !head_only) {
      for (auto chunk = read_chunk(); !chunk.empty(); chunk = read_chunk()) response.body += chunk;
      return response;
    }
    const size_t length = head_only ? 0 : std::strtoull(response.field("Content-Length").c_str(), nullptr, 10);
    while (bytes_.size() < length) {
      if (!more()) return {};
    }
    response.body = bytes_.substr(0, length);
    bytes_.erase(0, length);
    return response;
  }
  /// The next part of an answer whose head says that it is chunked; empty for the last one, or where it is cut.
  std::string read_chunk() {
    size_t end = 0;
    while ((end = bytes_.find("\r\n")) == std::string::npos) {
      if (!more()) return {};
    }
    const size_t length = std::strtoull(bytes_.c_str(), nullptr, 16), whole = end + 2 + length + 2;
    while (bytes_.size() < whole) {
      if (!more()) return {};
    }
    std::string chunk = bytes_.substr(end + 2, length);
    bytes_.erase(0, whole);
    return chunk;
  }
  /// The head of an answer whose body comes bit by bit.
  ClientResponse read_head() { return read(true); }
  /// Everything until the server closes the connection.
  std::string read_rest() {
    while (more()) {
    }
    return std::exchange(bytes_, {});
  }
  ClientResponse ask(std::string_view request) {
    send(request);
    return read();
  }
  /// True when the server closes the connection within that time; what it sends before is dropped.
  bool is_closed_within(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 10) > 0 && !more()) return true;
    }
    return false;
  }

 private:
  bool more() {
    char bytes[4096];
    const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    bytes_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  int socket_;
  std::string bytes_;
};

/// A whole request with the headers that it needs.
inline std::string http_request(std::string_view method, std::string_view path, std::string_view body = "",
                                std::string_view type = "", std::string_view more_fields = "") {
  std::string text = std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!type.empty()) text += "Content-Type: " + std::string(type) + "\r\n";
  if (!body.empty() || method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + std::string(more_fields) + "\r\n" + std::string(body);
}

}  // namespace nmt::test
