#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace boost::asio::ssl {
class context;
template <typename Stream>
class stream;
}  // namespace boost::asio::ssl

namespace nmt {

namespace net = boost::asio;
using NetError = boost::system::error_code;

/// The bytes of one client: TCP, or TLS on it. All of it runs on the thread of the socket's io_context; one reading and
/// one writing operation at a time. Operations that are cancelled, or whose socket is closed, still call back.
class Transport {
 public:
  using Done = std::function<void(NetError, std::size_t bytes)>;
  using Buffers = std::array<net::const_buffer, 2>;

  /// No tls: plain TCP.
  Transport(net::ip::tcp::socket socket, std::shared_ptr<net::ssl::context> tls);
  ~Transport();

  void handshake(Done done);
  void read_some(net::mutable_buffer place, Done done);
  void write(const Buffers& bytes, Done done);
  /// Says that nothing more will be sent; the client may still send.
  void end_sending(Done done);

  /// Ends what is under way; TLS cannot continue after that where it was in the middle of a record.
  void cancel();
  void close();
  /// Calls back when the client has sent something, or has closed the connection.
  void wait_for_bytes(Done done);
  /// After that: true where the client closed it.
  bool is_closed_by_client();

 private:
  net::ip::tcp::socket socket_;
  std::shared_ptr<net::ssl::context> tls_;
  std::unique_ptr<net::ssl::stream<net::ip::tcp::socket&>> stream_;  // of TLS
};

}  // namespace nmt
