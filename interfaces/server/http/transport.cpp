#include "server/http/transport.h"

#include <sys/socket.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace nmt {
namespace {

class TlsTransport : public Transport {
 public:
  TlsTransport(net::ip::tcp::socket socket, std::shared_ptr<net::ssl::context> context)
      : Transport(std::move(socket)), context_(std::move(context)), stream_(socket_, *context_) {}

  void handshake(Done done) override {
    stream_.async_handshake(net::ssl::stream_base::server,
                            [done = std::move(done)](const NetError& error) { done(error, 0); });
  }
  void read_some(net::mutable_buffer place, Done done) override { stream_.async_read_some(place, std::move(done)); }
  void write(const Buffers& bytes, Done done) override { net::async_write(stream_, bytes, std::move(done)); }
  void end_sending(Done done) override {
    stream_.async_shutdown([done = std::move(done)](const NetError& error) { done(error, 0); });
  }

 private:
  std::shared_ptr<net::ssl::context> context_;
  net::ssl::stream<net::ip::tcp::socket&> stream_;
};

}  // namespace

Transport::Transport(net::ip::tcp::socket socket) : socket_(std::move(socket)) {
  NetError ignored;
  socket_.set_option(net::ip::tcp::no_delay(true), ignored);
}

void Transport::handshake(Done done) {
  net::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
}
void Transport::read_some(net::mutable_buffer place, Done done) { socket_.async_read_some(place, std::move(done)); }
void Transport::write(const Buffers& bytes, Done done) { net::async_write(socket_, bytes, std::move(done)); }
void Transport::end_sending(Done done) {
  NetError error;
  socket_.shutdown(net::ip::tcp::socket::shutdown_send, error);
  net::post(socket_.get_executor(), [done = std::move(done), error] { done(error, 0); });
}

void Transport::cancel() {
  NetError ignored;
  socket_.cancel(ignored);
}

void Transport::close() {
  NetError ignored;
  socket_.close(ignored);
}

void Transport::wait_for_bytes(Done done) {
  socket_.async_wait(net::ip::tcp::socket::wait_read,
                     [done = std::move(done)](const NetError& error) { done(error, 0); });
}

bool Transport::is_closed_by_client() {
  char byte = 0;
  return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::unique_ptr<Transport> make_transport(net::ip::tcp::socket socket, const std::shared_ptr<net::ssl::context>& tls) {
  if (!tls) return std::make_unique<Transport>(std::move(socket));
  return std::make_unique<TlsTransport>(std::move(socket), tls);
}

}  // namespace nmt
