#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace nmt {

namespace net = boost::asio;
using NetError = boost::system::error_code;

/// The bytes of one client: TCP, or TLS on it. All of it runs on the thread of the socket's io_context; one reading and
/// one writing operation at a time. Operations that are cancelled, or whose socket is closed, still call back.
class Transport {
 public:
  using Done = std::function<void(NetError, std::size_t bytes)>;
  using Buffers = std::array<net::const_buffer, 2>;

  explicit Transport(net::ip::tcp::socket socket);
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual void handshake(Done done);
  virtual void read_some(net::mutable_buffer place, Done done);
  virtual void write(const Buffers& bytes, Done done);
  /// Says that nothing more will be sent; the client may still send.
  virtual void end_sending(Done done);

  /// Ends what is under way; TLS cannot continue after that where it was in the middle of a record.
  void cancel();
  void close();
  /// Calls back when the client has sent something, or has closed the connection.
  void wait_for_bytes(Done done);
  /// After that: true where the client closed it.
  bool is_closed_by_client();

 protected:
  net::ip::tcp::socket socket_;
};

/// TLS where there is a context.
std::unique_ptr<Transport> make_transport(net::ip::tcp::socket socket, const std::shared_ptr<net::ssl::context>& tls);

}  // namespace nmt
