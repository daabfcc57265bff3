#include "server/http/transport.h"

#include <sys/socket.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace nmt {

Transport::Transport(net::ip::tcp::socket socket, std::shared_ptr<net::ssl::context> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_) stream_ = std::make_unique<net::ssl::stream<net::ip::tcp::socket&>>(socket_, *tls_);
  NetError ignored;
  socket_.set_option(net::ip::tcp::no_delay(true), ignored);
}

Transport::~Transport() = default;

void Transport::handshake(Done done) {
  const auto then = [done = std::move(done)](const NetError& error) { done(error, 0); };
  if (stream_) return stream_->async_handshake(net::ssl::stream_base::server, then);
  net::post(socket_.get_executor(), [then] { then({}); });
}
void Transport::read_some(net::mutable_buffer place, Done done) {
  stream_ ? stream_->async_read_some(place, std::move(done)) : socket_.async_read_some(place, std::move(done));
}
void Transport::write(const Buffers& bytes, Done done) {
  stream_ ? net::async_write(*stream_, bytes, std::move(done)) : net::async_write(socket_, bytes, std::move(done));
}
void Transport::end_sending(Done done) {
  const auto then = [done = std::move(done)](const NetError& error) { done(error, 0); };
  if (stream_) return stream_->async_shutdown(then);
  NetError error;
  socket_.shutdown(net::ip::tcp::socket::shutdown_send, error);
  net::post(socket_.get_executor(), [then, error] { then(error); });
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

}  // namespace nmt
