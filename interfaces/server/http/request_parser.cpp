#include "server/http/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/unicode.h"

namespace nmt {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kReadAtOnce = 16 << 10;

/// A body for Beast's parser that takes its bytes from a budget as they come, however many the client has announced.
struct BudgetedBody {
  struct value_type {
    std::string text;
    std::shared_ptr<MemoryBudget::Share> share;
  };
  class reader {
   public:
    template <bool isRequest, typename Fields>
    reader(http::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, beast::error_code& error) { error = {}; }
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, beast::error_code& error) {
      const std::size_t bytes = boost::asio::buffer_size(buffers);
      if (!body_.share->take(static_cast<int64_t>(bytes))) {
        error = beast::error_code(ENOMEM, boost::system::generic_category());
        return 0;
      }
      for (auto one = boost::asio::buffer_sequence_begin(buffers); one != boost::asio::buffer_sequence_end(buffers);
           ++one)
        body_.text.append(static_cast<const char*>(one->data()), one->size());
      error = {};
      return bytes;
    }
    void finish(beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

std::string text_of(boost::string_view view) { return {view.data(), view.size()}; }

}  // namespace

struct RequestParser::Parts {
  explicit Parts(const HttpLimits& limits) : buffer(static_cast<std::size_t>(limits.header_bytes) + kReadAtOnce) {}

  beast::flat_buffer buffer;  // bytes that came and are not read
  std::optional<http::request_parser<BudgetedBody>> parser;
};

RequestParser::RequestParser(const HttpLimits& limits, MemoryBudget& budget, std::string client,
                             std::string path_prefix)
    : limits_(limits),
      budget_(budget),
      client_(std::move(client)),
      path_prefix_(std::move(path_prefix)),
      parts_(std::make_unique<Parts>(limits)) {
  next();
}

RequestParser::~RequestParser() = default;

boost::asio::mutable_buffer RequestParser::place() {
  auto& buffer = parts_->buffer;
  return buffer.prepare(std::min(kReadAtOnce, buffer.max_size() - buffer.size()));
}

RequestParser::State RequestParser::next() {
  parts_->parser.emplace();
  parts_->parser->header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  int64_t most = limits_.body_bytes;
  for (const auto& [path, bytes] : limits_.body_bytes_of) most = std::max(most, bytes);
  parts_->parser->body_limit(static_cast<std::uint64_t>(most));
  parts_->parser->get().body().share = std::make_shared<MemoryBudget::Share>(budget_, client_);
  request_ = {};
  keep_alive_ = expects_continue_ = takes_chunks_ = false;
  state_ = State::kEmpty;
  if (parts_->buffer.size() > 0) return parse();
  parts_->buffer.shrink_to_fit();  // an idle connection holds no buffer
  return state_;
}

RequestParser::State RequestParser::advance(std::size_t bytes) {
  parts_->buffer.commit(bytes);
  return parse();
}

RequestParser::State RequestParser::read_body() {
  parts_->parser->eager(true);
  return parse();
}

RequestParser::State RequestParser::parse() {
  auto& parser = *parts_->parser;
  if (state_ == State::kRefused) return state_;
  beast::error_code error;
  const bool had_head = parser.is_header_done();
  if (!had_head) {
    // Some clients send an empty line behind a body (RFC 9112, 2.2).
    while (state_ == State::kEmpty && parts_->buffer.size() > 0) {
      const char first = *static_cast<const char*>(parts_->buffer.data().data());
      if (first != '\r' && first != '\n') break;
      parts_->buffer.consume(1);
    }
    if (parts_->buffer.size() == 0) return state_;
    state_ = State::kHead;
  }
  while (!parser.is_done() && parts_->buffer.size() > 0) {
    parts_->buffer.consume(parser.put(parts_->buffer.data(), error));
    if (!had_head && parser.is_header_done()) break;
    if (error) break;
  }
  if (!had_head && parser.is_header_done()) {
    read_head();
    state_ = State::kBody;
    if (auto why = check_head()) return refuse(std::move(*why));
    parser.body_limit(static_cast<std::uint64_t>(body_limit()));
    if (parser.content_length().value_or(0) > static_cast<std::uint64_t>(body_limit())) error = http::error::body_limit;
  }
  if (error == http::error::need_more) {
    error = {};
    if (parts_->buffer.size() == parts_->buffer.max_size()) error = http::error::buffer_overflow;
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return refuse(HttpResponse::error(
        431, fmt::format("the head of the request is too long: at most {} bytes", limits_.header_bytes)));
  if (error == http::error::body_limit)
    return refuse(HttpResponse::error(413, fmt::format("the request is too long: at most {} bytes", body_limit())));
  if (error == boost::system::errc::not_enough_memory)
    return refuse(HttpResponse::error(
        503, "busy: the requests that are being read or answered fill the memory; try again later"));
  if (error == http::error::bad_version) return refuse(HttpResponse::error(505, "HTTP 1.0 and 1.1 are spoken here"));
  if (error) return refuse(HttpResponse::error(400, "the request is no HTTP"));
  if (had_head && parser.is_done()) {
    request_.body = std::move(parser.get().body().text);
    request_.share = std::move(parser.get().body().share);
    state_ = State::kWhole;
  }
  return state_;
}

void RequestParser::read_head() {
  const auto& head = parts_->parser->get();
  request_.method = text_of(head.method_string());
  std::string target = text_of(head.target());
  for (const char* scheme : {"http://", "https://"}) {  // as a proxy is asked (RFC 9112, 3.2.2)
    if (!target.starts_with(scheme)) continue;
    const size_t path = target.find('/', std::strlen(scheme));
    target = path == std::string::npos ? "/" : target.substr(path);
    break;
  }
  const size_t question = target.find('?');
  request_.path = target.substr(0, question);
  if (request_.path.starts_with(path_prefix_ + "/")) request_.path.erase(0, path_prefix_.size());
  if (question != std::string::npos) request_.query = target.substr(question + 1);
  for (const auto& field : head) request_.fields.emplace_back(text_of(field.name_string()), text_of(field.value()));
  keep_alive_ = head.keep_alive();
  takes_chunks_ = head.version() == 11;
  expects_continue_ = head.version() == 11 && same_ignoring_case(request_.field("Expect"), "100-continue");
}

std::optional<HttpResponse> RequestParser::check_head() const {
  const auto count = [&](std::string_view name) {
    int64_t count = 0;
    for (const auto& field : request_.fields) count += same_ignoring_case(field.first, name) ? 1 : 0;
    return count;
  };
  const bool newer = parts_->parser->get().version() == 11;
  if (count("Host") > 1 || (newer && count("Host") == 0))
    return HttpResponse::error(400, "the request needs the header Host, once");
  // Beast passes over codings other than chunked: the body would be read as the next request.
  const bool coded = count("Transfer-Encoding") > 0;
  if (coded && (!newer || !parts_->parser->chunked() || count("Content-Length") > 0))
    return HttpResponse::error(400, "of Transfer-Encoding only chunked is understood, without Content-Length");
  if (count("Content-Length") > 1) return HttpResponse::error(400, "Content-Length is given twice");
  if (!request_.field("Expect").empty() && !expects_continue_ && newer)
    return HttpResponse::error(417, "of Expect only 100-continue is understood");
  const auto coding = request_.field("Content-Encoding");
  if (!coding.empty() && !same_ignoring_case(coding, "identity"))
    return HttpResponse::error(415, fmt::format("the body is compressed ({}): send it as it is", printable(coding)));
  if (!request_.path.starts_with('/') && request_.path != "*")
    return HttpResponse::error(400, "the target of the request is no path");
  return {};
}

/// The limit of this request. Its path is not known before its head is whole.
int64_t RequestParser::body_limit() const {
  const auto own = limits_.body_bytes_of.find(request_.path);
  return own == limits_.body_bytes_of.end() ? limits_.body_bytes : own->second;
}

RequestParser::State RequestParser::refuse(HttpResponse why) {
  refusal_ = std::move(why);
  return state_ = State::kRefused;
}

}  // namespace nmt
