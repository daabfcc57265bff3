#include "server/http/http_connection.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/http/status.hpp>
#include <ctime>
#include <iterator>
#include <utility>

namespace nmt {
namespace {

HttpFields all_fields(const HttpServerOptions& options, const AccessRules& access) {
  HttpFields fields = options.fields;
  std::ranges::copy(access.fields(), std::back_inserter(fields));
  return fields;
}

std::string head_of(const HttpResponse& response, const HttpFields& fields, bool close, bool close_ends_body = false) {
  const auto status = static_cast<boost::beast::http::status>(response.status);
  const auto reason = boost::beast::http::obsolete_reason(status);
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, std::string_view(reason.data(), reason.size()));
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  };
  add("Date", fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(std::time(nullptr))));
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  if (response.stream && !close_ends_body)
    add("Transfer-Encoding", "chunked");
  else if (!response.stream && response.status != 204 && response.status != 304)
    add("Content-Length", std::to_string(response.body.size()));
  add("Connection", close ? "close" : "keep-alive");
  for (const auto& [name, value] : fields) add(name, value);
  for (const auto& [name, value] : response.fields) add(name, value);
  return head + "\r\n";
}

}  // namespace

HttpHub::HttpHub(HttpHandler h, HttpServerOptions o)
    : handler(std::move(h)),
      options(std::move(o)),
      access(options.access, options.address),
      fields(all_fields(options, access)),
      budget(options.limits.all_body_bytes) {}

HttpConnection::HttpConnection(HttpHub& hub, boost::asio::io_context& io, std::unique_ptr<Transport> transport,
                               std::string client, bool crowded)
    : hub_(hub),
      io_(io),
      transport_(std::move(transport)),
      client_(std::move(client)),
      crowded_(crowded),
      parser_(hub.options.limits, hub.budget, client_, hub.options.path_prefix),
      timer_(io),
      place_(hub.waiting.end()) {
  hub_.connections.insert(this);
  ++hub_.open;
}

HttpConnection::~HttpConnection() {
  close();
  hub_.connections.erase(this);
  if (hub_.stopping && hub_.connections.empty() && hub_.on_last_gone) hub_.on_last_gone();
}

void HttpConnection::start() {
  enter(State::kReading);
  set_deadline(hub_.options.limits.request, [this] { close(); });
  transport_->handshake([this, self = shared_from_this()](const NetError& error, size_t) {
    if (error || state_ == State::kClosed) return close();
    wait_for_request();
  });
}

void HttpConnection::stop() {
  if (state_ == State::kAnswering || state_ == State::kSending || state_ == State::kStreaming)
    return;  // then it is closed
  close();
}

void HttpConnection::close() {
  if (state_ == State::kClosed) return;
  enter(State::kClosed);
  --hub_.open;
  cancelled_.request_stop();
  if (stream_) stream_->on_change({});
  timer_.cancel();
  transport_->close();
}

void HttpConnection::enter(State state) {
  state_ = state;
  const bool waits = state == State::kIdle || state == State::kReading || state == State::kLingering;
  if (place_ != hub_.waiting.end()) hub_.waiting.erase(place_);
  place_ = waits ? hub_.waiting.insert(hub_.waiting.end(), this) : hub_.waiting.end();
}

void HttpConnection::set_deadline(std::chrono::milliseconds time, std::function<void()> action) {
  timer_.expires_after(time);
  timer_.async_wait(
      [this, self = shared_from_this(), number = ++deadline_, action = std::move(action)](NetError error) {
        if (!error && number == deadline_ && state_ != State::kClosed) action();
      });
}

/// The idle time between two requests.
void HttpConnection::wait_for_request() {
  if (hub_.stopping) return close();
  enter(State::kIdle);
  began_ = Clock::now();
  method_.clear();
  path_.clear();
  received_bytes_ = 0;
  const auto next = parser_.next();
  if (next == RequestParser::State::kEmpty) {
    set_deadline(hub_.options.limits.idle, [this] { close(); });
    return read();
  }
  advance(next);
}

void HttpConnection::read() {
  transport_->read_some(parser_.place(), [this, self = shared_from_this()](const NetError& error, size_t bytes) {
    if (state_ == State::kClosed || state_ == State::kSending) return;  // sending: the deadline has passed meanwhile
    if (error || bytes == 0) return close();
    advance(parser_.advance(bytes));
  });
}

void HttpConnection::advance(RequestParser::State state) {
  if (state_ == State::kIdle && state != RequestParser::State::kEmpty) {
    began_ = Clock::now();
    enter(State::kReading);
    set_deadline(hub_.options.limits.request, [this] {
      enter(State::kSending);  // before the reading that is cancelled calls back
      transport_->cancel();
      refuse(HttpResponse::error(408, "the request did not come in time"));
    });
  }
  switch (state) {
    case RequestParser::State::kEmpty:
    case RequestParser::State::kHead:
      return read();
    case RequestParser::State::kBody:
      return on_head();
    case RequestParser::State::kRefused:
      return refuse(*parser_.refusal());
    case RequestParser::State::kWhole:
      return hand_over();
  }
}

bool HttpConnection::is_welcome_when_crowded() const {
  return std::ranges::find(hub_.options.always_answered, parser_.request().path) != hub_.options.always_answered.end();
}

/// Called with the head, and again whenever more of the body has come.
void HttpConnection::on_head() {
  if (path_.empty()) {
    method_ = parser_.request().method;
    path_ = parser_.request().path;
    head_only_ = method_ == "HEAD";
    if (crowded_ && !is_welcome_when_crowded())
      return refuse(HttpResponse::error(503, "busy: all connections are taken; try again later"));
    if (const auto why = hub_.access.refusal(parser_.request())) return refuse(*why);
    const auto state = parser_.read_body();
    if (state != RequestParser::State::kBody || !parser_.expects_continue()) return advance(state);
    head_ = "HTTP/1.1 100 Continue\r\n\r\n";
    return transport_->write({net::buffer(head_), {}},
                             [this, self = shared_from_this()](const NetError& error, size_t) {
                               if (state_ != State::kReading) return;
                               if (error) return close();
                               read();
                             });
  }
  read();
}

void HttpConnection::hand_over() {
  enter(State::kAnswering);
  close_after_ = !parser_.keep_alive() || crowded_ || hub_.stopping;
  cancelled_ = std::stop_source();
  HttpRequest request = std::move(parser_.request());
  request.client = client_;
  request.cancelled = cancelled_.get_token();
  received_bytes_ = std::ssize(request.body);
  set_deadline(hub_.options.limits.answer, [this, number = ++number_] {
    cancelled_.request_stop();
    answer(number, HttpResponse::error(504, "the time limit was reached; send less text or try again later"));
  });
  watch_client();
  // The answer comes from any thread, and perhaps when the connection is gone.
  hub_.handler(std::move(request),
               HttpReply([&io = io_, weak = weak_from_this(), number = number_](HttpResponse response) {
                 net::post(io, [weak, number, response = std::move(response)]() mutable {
                   if (const auto self = weak.lock()) self->answer(number, std::move(response));
                 });
               }));
}

/// So that nothing is translated for a client that has gone.
void HttpConnection::watch_client() {
  if (watching_) return;
  watching_ = true;
  transport_->wait_for_bytes([this, self = shared_from_this()](const NetError& error, size_t) {
    watching_ = false;
    const bool answers = state_ == State::kAnswering || state_ == State::kStreaming;
    if (!error && answers && transport_->is_closed_by_client()) close();
  });
}

void HttpConnection::answer(int64_t number, HttpResponse response) {
  if (state_ != State::kAnswering || number != number_) return;
  if (hub_.stopping) close_after_ = true;
  response.stream ? stream(response) : send(response);
}

/// An answer that is sent while it is made. Each of its parts has the time of a whole answer to come.
void HttpConnection::stream(const HttpResponse& response) {
  enter(State::kStreaming);
  status_ = response.status;
  chunked_ = parser_.takes_chunks();
  if (!chunked_) close_after_ = true;  // that is how a client of HTTP/1.0 sees the end
  head_ = head_of(response, hub_.fields, close_after_, !chunked_);
  streamed_bytes_ = 0;
  stream_ = response.stream;
  is_writing_ = false;
  stream_->on_change([&io = io_, weak = weak_from_this(), number = number_] {
    net::post(io, [weak, number] {
      const auto self = weak.lock();
      if (self && self->state_ == State::kStreaming && self->number_ == number) self->send_more();
    });
  });
}

void HttpConnection::send_more() {
  if (is_writing_) return;
  auto [bytes, ended] = stream_->take();
  if (bytes.empty() && !ended) {
    return set_deadline(hub_.options.limits.answer, [this] { close(); });
  }
  streamed_bytes_ += std::ssize(bytes);
  if (!chunked_) {
    body_ = std::move(bytes);
  } else {
    body_ = bytes.empty() ? std::string() : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
    if (ended) body_ += "0\r\n\r\n";
  }
  if (ended) observe(status_, streamed_bytes_);
  is_writing_ = true;
  set_deadline(hub_.options.limits.sending, [this] { close(); });
  transport_->write({net::buffer(head_), net::buffer(body_)},
                    [this, ended = ended, self = shared_from_this()](const NetError& error, size_t) {
                      if (error || state_ == State::kClosed) return close();
                      is_writing_ = false;
                      head_.clear();
                      if (!ended) return send_more();
                      stream_.reset();
                      enter(State::kSending);
                      on_sent();
                    });
}

void HttpConnection::observe(int status, int64_t sent_bytes) const {
  if (!hub_.options.observe) return;
  hub_.options.observe({.client = client_,
                        .method = method_,
                        .path = path_,
                        .status = status,
                        .received_bytes = received_bytes_,
                        .sent_bytes = sent_bytes,
                        .time = Clock::now() - began_});
}

void HttpConnection::refuse(const HttpResponse& response) {
  close_after_ = true;
  number_ = -1;  // what follows is lingering
  send(response);
}

void HttpConnection::send(const HttpResponse& response) {
  enter(State::kSending);
  observe(response.status, std::ssize(response.body));
  head_ = head_of(response, hub_.fields, close_after_);
  body_ = head_only_ || response.status == 204 || response.status == 304 ? std::string() : response.body;
  head_only_ = false;
  set_deadline(hub_.options.limits.sending, [this] { close(); });
  transport_->write({net::buffer(head_), net::buffer(body_)},
                    [this, self = shared_from_this()](const NetError& error, size_t) {
                      if (error || state_ == State::kClosed) return close();
                      on_sent();
                    });
}

void HttpConnection::on_sent() {
  body_ = {};
  if (!close_after_) return wait_for_request();
  linger();
}

/// A socket that is closed while bytes come in tells the client that the connection broke, and it may never see what
/// was sent before: so its bytes are dropped for a while.
void HttpConnection::linger() {
  enter(State::kLingering);
  set_deadline(hub_.stopping ? std::chrono::milliseconds(200) : hub_.options.limits.lingering, [this] { close(); });
  transport_->end_sending([this, self = shared_from_this()](const NetError& error, size_t) {
    if (state_ != State::kLingering) return;
    if (error) return close();
    drop_bytes();
  });
}

void HttpConnection::drop_bytes() {
  head_.resize(4096);
  transport_->read_some(net::buffer(head_), [this, self = shared_from_this()](const NetError& error, size_t bytes) {
    if (state_ != State::kLingering) return;
    if (error || bytes == 0) return close();
    drop_bytes();
  });
}

}  // namespace nmt
