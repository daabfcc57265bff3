#include "serving/http_server.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include <future>
#include <optional>

#include "base/error.h"
#include "serving/fake_translator.h"
#include "serving/page.h"

namespace nmt::http_server_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() { make(ServerOptions()); }

  void make(ServerOptions options) {
    options.connections = 8;
    options.service.source_language = "de";
    options.service.target_language = "en";
    options.service.queue.window = 0ms;
    server_.emplace(translator_.function(), options, *log_);
    client_.emplace("127.0.0.1", server_->port());
  }
  httplib::Response post(const std::string& path, const std::string& body, const char* type = "application/json") {
    auto result = client_->Post(path.c_str(), body, type);
    return result ? *result : httplib::Response();
  }
  httplib::Response get(const std::string& path) {
    auto result = client_->Get(path.c_str());
    return result ? *result : httplib::Response();
  }
  static std::string error_of(const httplib::Response& response) {
    EXPECT_EQ(response.get_header_value("Content-Type"), "application/json; charset=utf-8");
    return nlohmann::json::parse(response.body).at("error");
  }
  static nlohmann::json json_of(const httplib::Response& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    return nlohmann::json::parse(response.body);
  }
  void expect_translates() { EXPECT_EQ(json_of(post("/translate", R"({"q": "ab"})"))["translatedText"], "ba"); }

  std::shared_ptr<Logger> log_ = test::silent_log();
  test::FakeTranslator translator_;
  std::optional<HttpServer> server_;
  std::optional<httplib::Client> client_;
};

TEST_F(HttpServerTest, TranslatesJsonAndForms) {
  const nlohmann::json expected = {{"translatedText", "ba"}};
  EXPECT_EQ(json_of(post("/translate", R"({"q": "ab", "source": "de", "target": "en"})")), expected);
  EXPECT_EQ(json_of(post("/translate", R"({"q": "ab"})", "application/json; charset=UTF-8")), expected);
  EXPECT_EQ(json_of(post("/translate", "q=ab&source=de&target=en", "application/x-www-form-urlencoded")), expected);
  const auto parts =
      client_->Post("/translate", httplib::MultipartFormDataItems{{"q", "ab", "", ""}, {"source", "de", "", ""}});
  EXPECT_EQ(json_of(*parts), expected);
  const std::string long_text(100'000, 'a');
  EXPECT_EQ(json_of(post("/translate", "q=" + long_text, "application/x-www-form-urlencoded"))["translatedText"],
            long_text)
      << "httplib's own limit of forms does not hold";
}

TEST_F(HttpServerTest, OtherRoutes) {
  EXPECT_EQ(json_of(get("/health")), nlohmann::json({{"status", "ok"}}));
  EXPECT_EQ(json_of(get("/languages"))[0]["code"], "de");
  EXPECT_FALSE(json_of(get("/frontend/settings"))["keyRequired"].get<bool>());
  EXPECT_EQ(json_of(post("/explain", R"({"q": "ab"})"))["lines"].size(), 1u);
  const auto page = get("/");
  EXPECT_EQ(page.body, page_html());
  EXPECT_EQ(page.get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(page.get_header_value("X-Content-Type-Options"), "nosniff");
}

TEST_F(HttpServerTest, ThePageLoadsNothingFromElsewhere) {
  for (const char* outside : {"http://", "https://", "src=\"", "@import", "url("})
    EXPECT_THAT(page_html(), testing::Not(HasSubstr(outside)));
  EXPECT_TRUE(page_html().starts_with("<!doctype html>"));
  EXPECT_TRUE(page_html().ends_with("</html>\n"));
}

TEST_F(HttpServerTest, MetricsCountRoutesAndStatus) {
  expect_translates();
  post("/translate", "{}");
  get("/nowhere");
  get("/elsewhere");
  const auto metrics = get("/metrics");
  EXPECT_EQ(metrics.get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"/translate\",status=\"200\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"/translate\",status=\"400\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"other\",status=\"404\"} 2\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_sentences_total 1\n"));
}

TEST_F(HttpServerTest, RefusalsAreJson) {
  struct Case {
    const char *path, *body, *type;
    int status;
    const char* says;
  };
  for (const Case& c : {
           Case{"/translate", "{}", "application/json", 400, "q is missing"},
           Case{"/translate", "{\"q\": \"M\xfcnchen\"}", "application/json", 400, "not UTF-8"},
           Case{"/translate", "{\"q\": \"\\u0000\"}", "application/json", 400, "NUL"},
           Case{"/translate", "q=%00", "application/x-www-form-urlencoded", 400, "NUL"},
           Case{"/translate", "q=%ff", "application/x-www-form-urlencoded", 400, "not UTF-8"},
           Case{"/translate", "ab", "text/plain", 415, "send JSON"},
           Case{"/translate", "{\"q\": \"ab\", \"source\": \"fr\"}", "application/json", 400, "'fr' is not supported"},
           Case{"/translate", "{\"q\": \"fail\"}", "application/json", 500, "log says why"},
           Case{"/detect", "{\"q\": \"ab\"}", "application/json", 404, "not detected"},
           Case{"/detect", "ab", "text/plain", 404, "not detected"},
           Case{"/languages", "{}", "application/json", 405, "send it by GET"},
           Case{"/nowhere", "ab", "text/plain", 404, "/nowhere: no such page"},
           Case{"/no%0Awhere", "ab", "text/plain", 404, "no such page"},
       }) {
    const auto response = post(c.path, c.body, c.type);
    EXPECT_EQ(response.status, c.status) << c.path << " " << c.body;
    EXPECT_THAT(error_of(response), HasSubstr(c.says));
  }
  const auto wrong_method = get("/translate");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.get_header_value("Allow"), "POST");
  EXPECT_THAT(error_of(wrong_method), HasSubstr("send it by POST"));
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_EQ(client_->Put("/translate", "{}", "application/json")->status, 405);
  EXPECT_EQ(client_->Delete("/x", "{}", "application/json")->status, 404);
  expect_translates();  // on the same connection
}

TEST_F(HttpServerTest, LongPathsAreNoTrouble) {
  const std::string path = "/" + std::string(8000, 'a');
  EXPECT_EQ(get(path).status, 404);
  EXPECT_EQ(post(path, "{}").status, 404);
  EXPECT_EQ(get("/" + std::string(9000, 'a')).status, 414);
}

TEST_F(HttpServerTest, BodiesHaveALimit) {
  ServerOptions options;
  options.max_body_bytes = 100;
  make(options);
  const std::string fits = R"({"q": ")" + std::string(90, 'a') + R"("})";
  const std::string too_long = R"({"q": ")" + std::string(92, 'a') + R"("})";
  ASSERT_EQ(fits.size(), 99u);
  EXPECT_EQ(post("/translate", fits).status, 200);
  const auto refused = post("/translate", too_long);
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(error_of(refused), HasSubstr("at most 100 bytes"));
  EXPECT_EQ(post("/nowhere", too_long).status, 413);
  // Without Content-Length, in chunks, the length shows only in the end.
  const auto in_chunks = [&](const std::string& path, const std::string& text) {
    return client_
        ->Post(
            path.c_str(),
            [&](size_t, httplib::DataSink& sink) {
              sink.write(text.data(), text.size());
              sink.done();
              return true;
            },
            "application/json")
        ->status;
  };
  EXPECT_EQ(in_chunks("/translate", fits), 200);
  EXPECT_EQ(in_chunks("/translate", too_long), 413);
  for (const char* path : {"/nowhere", "/no%0Awhere"}) EXPECT_EQ(in_chunks(path, std::string(1'000'000, 'a')), 413);
  expect_translates();
}

TEST_F(HttpServerTest, AFullQueueSaysWhenToComeBack) {
  ServerOptions options;
  options.service.queue.max_waiting = 1;
  make(options);
  translator_.hold();
  const auto ask = [this] {
    httplib::Client client("127.0.0.1", server_->port());
    return client.Post("/translate", R"({"q": "ab"})", "application/json")->status;
  };
  auto translating = std::async(std::launch::async, ask);
  translator_.wait_for_batches(1);
  auto waiting = std::async(std::launch::async, ask);
  ASSERT_TRUE(
      test::eventually([&] { return get("/metrics").body.find("\nnmt_queue_lines 1\n") != std::string::npos; }));
  const auto refused = post("/translate", R"({"q": "cd"})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.get_header_value("Retry-After"), "1");
  EXPECT_EQ(json_of(get("/health"))["status"], "ok");
  translator_.release();
  EXPECT_EQ(translating.get(), 200);
  EXPECT_EQ(waiting.get(), 200);
  expect_translates();
}

TEST_F(HttpServerTest, StopAnswersWhatHasComeIn) {
  translator_.hold();
  auto in_flight = std::async(std::launch::async, [this] {
    httplib::Client client("127.0.0.1", server_->port());
    return client.Post("/translate", R"({"q": "ab"})", "application/json")->body;
  });
  translator_.wait_for_batches(1);
  const int port = server_->port();
  auto stopped = std::async(std::launch::async, [this] { server_->stop(); });
  EXPECT_TRUE(test::eventually([&] { return !httplib::Client("127.0.0.1", port).Get("/health"); }));
  EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout) << "a request is under way";
  translator_.release();
  EXPECT_EQ(in_flight.get(), R"({"translatedText":"ba"})");
  stopped.get();
  EXPECT_FALSE(server_->listening());
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  ServerOptions options;
  options.address.port = server_->port();
  try {
    HttpServer second(translator_.function(), options, *log_);
    ADD_FAILURE() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(server_->url() + ": cannot listen there (Address already in use)"));
  }
  options.address = {.host = "no.such.host.invalid", .port = 0};
  EXPECT_THROW(HttpServer(translator_.function(), options, *log_), Error);
}

TEST_F(HttpServerTest, OtherOriginsOnlyWhenAllowed) {
  EXPECT_FALSE(get("/languages").has_header("Access-Control-Allow-Origin"));
  ServerOptions options;
  options.allowed_origin = "https://example.org";
  make(options);
  EXPECT_EQ(get("/languages").get_header_value("Access-Control-Allow-Origin"), "https://example.org");
  const auto preflight = client_->Options("/translate");
  EXPECT_EQ(preflight->status, 204);
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Headers"), "Content-Type");
}

TEST_F(HttpServerTest, RefusesOptionsOutOfRange) {
  ServerOptions no_bodies, no_connections;
  no_bodies.max_body_bytes = 0;
  no_connections.connections = 0;
  for (const auto& options : {no_bodies, no_connections})
    EXPECT_THROW(HttpServer(translator_.function(), options, *log_), Error);
}

}  // namespace
}  // namespace nmt::http_server_test
