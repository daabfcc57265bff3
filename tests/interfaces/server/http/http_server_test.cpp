#include "server/http/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "server/fake_translator.h"
#include "server/http/http_client.h"
#include "server/http/http_message.h"

namespace nmt::http_server_test {
namespace {

using namespace std::chrono_literals;
using test::ClientResponse;
using test::http_request;
using test::RawClient;
using testing::ElementsAre;
using testing::HasSubstr;

/// A server whose handler answers with "METHOD PATH BODY", and keeps the replies of /wait.
class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() { make({}); }
  ~HttpServerTest() override {
    server_->stop();
    waiting_.clear();
  }

  void make(HttpServerOptions options) {
    options.always_answered = {"/health"};
    options.observe = [this](const HttpExchange& exchange) {
      const std::lock_guard lock(mutex_);
      seen_.push_back(std::string(exchange.path) + " " + std::to_string(exchange.status));
    };
    server_.reset();
    server_.emplace([this](HttpRequest request, HttpReply reply) { answer(std::move(request), std::move(reply)); },
                    std::move(options), *log_);
  }
  void make_with(const HttpLimits& limits) {
    HttpServerOptions options;
    options.limits = limits;
    make(std::move(options));
  }

  void answer(HttpRequest request, HttpReply reply) {
    if (request.path == "/wait") {
      const std::lock_guard lock(mutex_);
      tokens_.push_back(request.cancelled);
      waiting_.push_back(std::move(reply));
      return;
    }
    if (request.path == "/drop") return;
    if (request.path == "/stream") {
      const std::lock_guard lock(mutex_);
      streams_.push_back(std::make_shared<HttpStream>());
      tokens_.push_back(request.cancelled);
      return reply({.content_type = "text/plain", .stream = streams_.back()});
    }
    if (request.path == "/big") return reply({.content_type = "text/plain", .body = std::string(50'000'000, 'b')});
    reply({.content_type = "text/plain", .body = request.method + " " + request.path + " " + request.body});
  }
  std::shared_ptr<HttpStream> stream(size_t number) {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(5ms)) {
      const std::lock_guard lock(mutex_);
      if (streams_.size() > number) return streams_[number];
    }
    throw std::runtime_error("no stream was asked for");
  }
  size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  bool cancelled(size_t number) {
    const std::lock_guard lock(mutex_);
    return tokens_.at(number).stop_requested();
  }
  void answer_waiting(const std::string& body = "late") {
    std::vector<HttpReply> replies;
    {
      const std::lock_guard lock(mutex_);
      replies.swap(waiting_);
    }
    for (const auto& reply : replies) reply({.content_type = "text/plain", .body = body});
  }
  std::string get(const std::string& path) { return RawClient(server_->port()).ask(http_request("GET", path)).body; }
  void expect_works() { EXPECT_EQ(get("/health"), "GET /health "); }
  /// The status with which bytes are answered on a connection of their own.
  int status_of(std::string_view bytes) { return RawClient(server_->port()).ask(bytes).status; }

  std::shared_ptr<Logger> log_ = test::silent_log();
  std::mutex mutex_;
  std::vector<HttpReply> waiting_;
  std::vector<std::stop_token> tokens_;
  std::vector<std::shared_ptr<HttpStream>> streams_;
  std::vector<std::string> seen_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersOnAConnectionThatStays) {
  RawClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    const auto response = client.ask(http_request("POST", "/a", "body"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /a body");
    EXPECT_EQ(response.field("Connection"), "keep-alive");
    EXPECT_EQ(response.field("X-Content-Type-Options"), "nosniff");
    EXPECT_THAT(response.field("Date"), testing::MatchesRegex("..., .. ... .... ..:..:.. GMT"));
  }
  EXPECT_EQ(client.ask(http_request("GET", "/b", "", "", "Connection: close\r\n")).field("Connection"), "close");
  EXPECT_TRUE(client.is_closed_within(5s));
  EXPECT_THAT(seen_, ElementsAre("/a 200", "/a 200", "/a 200", "/b 200"));
}

TEST_F(HttpServerTest, OlderClients) {
  RawClient client(server_->port());
  EXPECT_EQ(client.ask("GET /old HTTP/1.0\r\n\r\n").body, "GET /old ");
  EXPECT_TRUE(client.is_closed_within(5s));
  RawClient staying(server_->port());
  EXPECT_EQ(staying.ask("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").field("Connection"), "keep-alive");
  EXPECT_EQ(staying.ask("GET /old HTTP/1.0\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, AStreamIsSentWhileItIsMade) {
  RawClient client(server_->port());
  client.send(http_request("GET", "/stream"));
  const auto made = stream(0);
  made->add("one");
  EXPECT_EQ(client.read_head().field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(client.read_chunk(), "one");
  made->add("two");
  EXPECT_EQ(client.read_chunk(), "two") << "before the end";
  made->add("three");
  made->end();
  made->add("too late");
  std::string rest;
  for (auto chunk = client.read_chunk(); !chunk.empty(); chunk = client.read_chunk()) rest += chunk;
  EXPECT_EQ(rest, "three");
  EXPECT_EQ(client.ask(http_request("GET", "/b")).body, "GET /b ") << "the connection stays";
  client.send(http_request("GET", "/stream"));
  stream(1)->end();
  EXPECT_EQ(client.read().body, "") << "an empty one";
  EXPECT_THAT(seen_, ElementsAre("/stream 200", "/b 200", "/stream 200"));
}

TEST_F(HttpServerTest, OlderClientsGetAStreamUntilTheConnectionEnds) {
  RawClient client(server_->port());
  client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto made = stream(0);
  made->add("one ");
  made->add("two");
  made->end();
  const auto head = client.read_head();
  EXPECT_EQ(head.field("Transfer-Encoding"), "");
  EXPECT_EQ(head.field("Connection"), "close");
  EXPECT_EQ(client.read_rest(), "one two");
}

TEST_F(HttpServerTest, AClientThatLeavesAStreamIsNoticed) {
  RawClient client(server_->port());
  client.send(http_request("GET", "/stream"));
  const auto made = stream(0);
  made->add("one");
  client.read_head();
  EXPECT_FALSE(cancelled(0));
  client.close();
  for (int i = 0; i < 1000 && !cancelled(0); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(cancelled(0));
  made->add("nobody reads this");
  made->end();
  expect_works();
}

TEST_F(HttpServerTest, AStreamThatComesToAHaltIsCut) {
  make_with({.answer = 1s});
  RawClient client(server_->port());
  client.send(http_request("GET", "/stream"));
  stream(0)->add("one");
  client.read_head();
  EXPECT_EQ(client.read_chunk(), "one");
  EXPECT_TRUE(client.is_closed_within(5s));
  EXPECT_TRUE(cancelled(0));
  expect_works();
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  RawClient client(server_->port());
  client.send(http_request("HEAD", "/a"));
  const auto response = client.read(true);
  EXPECT_EQ(response.field("Content-Length"), "8");
  EXPECT_EQ(client.ask(http_request("GET", "/b")).body, "GET /b ") << "nothing came behind the head";
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  RawClient client(server_->port());
  std::string all;
  for (int i = 0; i < 100; ++i) all += http_request("POST", "/" + std::to_string(i), std::to_string(i * i));
  client.send(all);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(client.read().body, "POST /" + std::to_string(i) + " " + std::to_string(i * i));
}

TEST_F(HttpServerTest, BytesComeAsTheyLike) {
  RawClient client(server_->port());
  for (const char byte : "\r\n" + http_request("POST", "/a", "body")) client.send(std::string_view(&byte, 1));
  EXPECT_EQ(client.read().body, "POST /a body");
}

TEST_F(HttpServerTest, Chunks) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  RawClient client(server_->port());
  EXPECT_EQ(client.ask(head + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n").body, "POST /a abcde");
  EXPECT_EQ(client.ask(http_request("GET", "/b")).body, "GET /b ");
  EXPECT_EQ(status_of(head + "zz\r\nabc\r\n"), 400);
  EXPECT_EQ(status_of(head + "fffffffffffffffff\r\nabc\r\n"), 400);
  EXPECT_EQ(status_of(head + "5;" + std::string(100'000, 'x')), 431);
}

TEST_F(HttpServerTest, ContinueIsSaidWhenTheBodyIsWelcome) {
  RawClient client(server_->port());
  client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  EXPECT_EQ(client.ask("body").body, "POST /a body");
  RawClient greedy(server_->port());
  greedy.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(greedy.read().status, 413);
  EXPECT_EQ(status_of("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: a miracle\r\n\r\n"), 417);
}

/// Where client and server may disagree on the end of a request, the rest of the connection is not read.
TEST_F(HttpServerTest, WhatIsNotClearIsRefused) {
  const std::string host = "Host: localhost\r\n", next = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const auto& [bytes, status] : std::vector<std::pair<std::string, int>>{
           {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
           {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", 400},
           {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n", 400},
           {"POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + host + "Content-Length : 4\r\n\r\nabcd", 400},
           {"GET / HTTP/1.1\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
           {"GET nowhere HTTP/1.1\r\n" + host + "\r\n", 400},
           {"GET / HTTP/2.0\r\n" + host + "\r\n", 505},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: localhost\r\na\nb: c\r\n\r\n", 400},
           {std::string("\0\xff\r\n\r\n", 6), 400},
           {"GET\r\n\r\n", 400},
       }) {
    RawClient client(server_->port());
    EXPECT_EQ(client.ask(bytes + next).status, status) << bytes;
    EXPECT_EQ(client.read().status, 0) << "nothing behind it is answered: " << bytes;
  }
  for (const auto& seen : seen_) EXPECT_THAT(seen, testing::Not(HasSubstr("smuggled")));
  expect_works();
}

TEST_F(HttpServerTest, ABodyIsReadWhateverTheMethod) {
  for (const char* method : {"GET", "OPTIONS", "DELETE", "PUT", "TRACE"}) {
    RawClient client(server_->port());
    const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(client.ask(http_request(method, "/a", hidden)).body, std::string(method) + " /a " + hidden);
    EXPECT_EQ(client.ask(http_request("GET", "/b")).body, "GET /b ");
  }
}

TEST_F(HttpServerTest, HeadsAndBodiesHaveALimit) {
  make_with({.header_bytes = 1000, .body_bytes = 100});
  EXPECT_EQ(status_of(http_request("POST", "/a", std::string(100, 'x'))), 200);
  EXPECT_EQ(status_of(http_request("POST", "/a", std::string(101, 'x'))), 413);
  EXPECT_EQ(status_of(http_request("POST", "/a", std::string(1'000'000, 'x'))), 413) << "the answer arrives";
  EXPECT_EQ(status_of("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n"), 413);
  const std::string chunked = "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n"), 413);
  EXPECT_EQ(status_of("GET /" + std::string(100'000, 'a')), 431) << "a line without an end";
  std::string many = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 100'000; ++i) many += "a: b\r\n";
  EXPECT_EQ(status_of(many), 431);
  EXPECT_EQ(status_of("GET /" + std::string(900, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
  expect_works();
}

TEST(MemoryBudget, AClientHasHalfOrOneRequest) {
  MemoryBudget budget(100);
  std::optional<MemoryBudget::Share> whole(std::in_place, budget, "a");
  EXPECT_TRUE(whole->take(60));
  EXPECT_TRUE(whole->take(20)) << "one request";
  EXPECT_FALSE(whole->take(30));
  MemoryBudget::Share second(budget, "a"), stranger(budget, "b"), other(budget, "b");
  EXPECT_FALSE(second.take(1));
  EXPECT_TRUE(stranger.take(10));
  whole.reset();
  EXPECT_TRUE(second.take(40));
  EXPECT_TRUE(other.take(40));
  EXPECT_FALSE(other.take(1)) << "10 and 41";
  EXPECT_EQ(budget.left(), 10);
}

TEST_F(HttpServerTest, BodiesTogetherHaveALimit) {
  make_with({.body_bytes = 100'000, .all_body_bytes = 300'000});
  std::vector<std::unique_ptr<RawClient>> clients;
  const std::string body(100'000, 'x');
  clients.push_back(std::make_unique<RawClient>(server_->port()));
  clients.back()->send(http_request("POST", "/wait", body));
  ASSERT_TRUE(test::eventually([&] { return waiting() == 1; }));
  EXPECT_EQ(status_of(http_request("POST", "/a", body)), 200)
      << "what is answered is given back: the handler dropped it";
  RawClient half(server_->port());
  half.send(http_request("POST", "/a", body).substr(0, 99'000));
  ASSERT_TRUE(test::eventually([&] { return status_of(http_request("POST", "/a", body)) == 503; }));
  expect_works();
  half.close();
  EXPECT_TRUE(test::eventually([&] { return status_of(http_request("POST", "/a", body)) == 200; }));
}

TEST_F(HttpServerTest, ARequestHasADeadlineHoweverItsBytesCome) {
  make_with({.request = 200ms});
  RawClient slow(server_->port());
  std::atomic<bool> ended = false;
  auto sender = std::async(std::launch::async, [&] {
    slow.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    while (!ended && slow.send("x")) std::this_thread::sleep_for(20ms);
  });
  EXPECT_EQ(slow.read().status, 408);
  ended = true;
  sender.get();
  RawClient head(server_->port());
  head.send("GET /a HT");
  EXPECT_EQ(head.read().status, 408);
  EXPECT_TRUE(head.is_closed_within(5s));
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  make_with({.idle = 100ms});
  RawClient silent(server_->port());
  EXPECT_TRUE(silent.is_closed_within(5s));
  make_with({.idle = 1s});  // on a busy machine the request itself takes a while
  RawClient used(server_->port());
  EXPECT_EQ(used.ask(http_request("GET", "/a")).status, 200);
  EXPECT_TRUE(used.is_closed_within(5s));
}

TEST_F(HttpServerTest, TheAnswerHasADeadline) {
  make_with({.answer = 100ms});
  RawClient client(server_->port());
  EXPECT_EQ(client.ask(http_request("GET", "/wait")).status, 504);
  EXPECT_TRUE(cancelled(0));
  answer_waiting("too late");
  EXPECT_EQ(client.ask(http_request("GET", "/b")).body, "GET /b ") << "the late answer goes nowhere";
}

TEST_F(HttpServerTest, AClientThatGoesIsNoticed) {
  RawClient client(server_->port());
  client.send(http_request("GET", "/wait"));
  ASSERT_TRUE(test::eventually([&] { return waiting() == 1; }));
  EXPECT_FALSE(cancelled(0));
  client.close();
  EXPECT_TRUE(test::eventually([&] { return cancelled(0); }));
  answer_waiting();
  expect_works();
}

TEST_F(HttpServerTest, AnAnswerThatIsForgottenIsAnError) { EXPECT_EQ(status_of(http_request("GET", "/drop")), 500); }

TEST_F(HttpServerTest, AClientThatDoesNotReadIsLeft) {
  make_with({.sending = 100ms});
  const auto is_left = [this](std::chrono::milliseconds wait) {
    RawClient client(server_->port());
    client.send(http_request("GET", "/big"));
    std::this_thread::sleep_for(wait);
    return client.read().status == 0;  // only the beginning has come
  };
  EXPECT_TRUE(is_left(300ms) || is_left(1s) || is_left(4s)) << "longer where the machine is busy";
  expect_works();
}

TEST_F(HttpServerTest, IdleConnectionsMakeRoom) {
  make_with({.connections = 8});
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<RawClient>(server_->port()));
    silent.back()->send(i % 2 ? "GET /a HT" : "");
  }
  for (int i = 0; i < 20; ++i) expect_works();
  EXPECT_TRUE(silent.front()->is_closed_within(5s)) << "who waited longest";
}

TEST_F(HttpServerTest, HealthIsAnsweredWhenAllConnectionsWait) {
  make_with({.connections = 4});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send(http_request("GET", "/wait"));
  }
  ASSERT_TRUE(test::eventually([&] { return waiting() == 4; }));
  expect_works();
  RawClient more(server_->port());
  const auto refused = more.ask(http_request("GET", "/a"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Retry-After"), "1");
  answer_waiting();
  for (auto& client : clients) EXPECT_EQ(client->read().body, "late");
  EXPECT_EQ(status_of(http_request("GET", "/a")), 200);
}

TEST_F(HttpServerTest, ThousandsOfIdleConnections) {
  make_with({.connections = 3000});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 900; ++i) {  // the test's own limit of open files is twice that
    idle.push_back(std::make_unique<RawClient>(server_->port()));
    if (i % 3 == 0) {
      EXPECT_EQ(idle.back()->ask(http_request("GET", "/a")).status, 200);
    }
  }
  expect_works();
  EXPECT_EQ(idle.front()->ask(http_request("GET", "/a")).status, 200) << "it is still there";
}

TEST_F(HttpServerTest, StopAnswersWhatHasComeIn) {
  RawClient client(server_->port()), idle(server_->port()), half(server_->port());
  half.send("POST /a HT");
  client.send(http_request("GET", "/wait"));
  ASSERT_TRUE(test::eventually([&] { return waiting() == 1; }));
  auto stopped = std::async(std::launch::async, [&] { server_->stop(); });
  EXPECT_TRUE(idle.is_closed_within(5s));
  EXPECT_TRUE(half.is_closed_within(5s));
  EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout);
  answer_waiting();
  const auto response = client.read();
  EXPECT_EQ(response.body, "late");
  EXPECT_EQ(response.field("Connection"), "close");
  stopped.get();
  EXPECT_THROW(RawClient(server_->port()), std::runtime_error);
}

TEST_F(HttpServerTest, StopDoesNotWaitForEver) {
  make_with({.stopping = 200ms});
  RawClient waiting_client(server_->port()), reader(server_->port());
  waiting_client.send(http_request("GET", "/wait"));
  reader.send(http_request("GET", "/big"));
  ASSERT_TRUE(test::eventually([&] { return waiting() == 1; }));
  const auto start = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s) << "an answer may take 30 s";
  EXPECT_TRUE(cancelled(0));
  answer_waiting();  // of a connection that is gone
}

TEST_F(HttpServerTest, ListensOnlyWhereItCan) {
  HttpServerOptions options;
  options.address.port = server_->port();
  try {
    HttpServer second([](const HttpRequest&, const HttpReply&) {}, options, *log_);
    ADD_FAILURE() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(server_->url() + ": cannot listen there (Address already in use)"));
  }
  options.address = {.host = "no.such.host.invalid", .port = 0};
  EXPECT_THROW(make(options), Error);
  make_with({});
}

TEST_F(HttpServerTest, RefusesOptionsOutOfRange) {
  for (const HttpLimits& limits :
       {HttpLimits{.body_bytes = 0}, HttpLimits{.connections = 0}, HttpLimits{.answer = 0ms}})
    EXPECT_THROW(make_with(limits), Error);
  make_with({});
}

TEST_F(HttpServerTest, APathMayHaveABodyLimitOfItsOwn) {
  make_with({.body_bytes = 100, .body_bytes_of = {{"/file", 1000}, {"/short", 10}}});
  const auto ask = [&](const std::string& path, size_t bytes) {
    return test::RawClient(server_->port()).ask(test::http_request("POST", path, std::string(bytes, 'x'))).status;
  };
  const auto ask_in_chunks = [&](const std::string& path, size_t bytes) {
    const std::string chunk(bytes / 2, 'x');
    std::string request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 2; ++i) request += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
    return test::RawClient(server_->port()).ask(request + "0\r\n\r\n").status;
  };
  for (const auto& [path, limit] : {std::pair{"/", 100}, std::pair{"/file", 1000}, std::pair{"/short", 10}}) {
    EXPECT_EQ(ask(path, limit), 200) << path;
    EXPECT_EQ(ask(path, limit + 1), 413) << path;
    EXPECT_EQ(ask_in_chunks(path, limit), 200) << path;
    EXPECT_EQ(ask_in_chunks(path, limit + 2), 413) << path;
  }
}

}  // namespace
}  // namespace nmt::http_server_test
