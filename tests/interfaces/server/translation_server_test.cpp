#include "server/translation_server.h"

#include <gmock/gmock.h>

#include <future>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "server/fake_translator.h"
#include "server/http/http_client.h"
#include "server/page/page.h"

namespace nmt::translation_server_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kAsk = R"({"q": "ab", "source": "de", "target": "en"})";

class TranslationServerTest : public testing::Test {
 protected:
  TranslationServerTest() { make(ServerOptions()); }

  void make(ServerOptions options) {
    options.service.pairs = {{"de", "en"}};
    options.service.queue.window = 0ms;
    server_.emplace(translator_.function(), options, *log_);
  }
  static std::string request(const std::string& path, const std::string& body, const char* type = "application/json",
                             const char* method = "POST") {
    return test::http_request(method, path, body, type);
  }
  test::ClientResponse post(const std::string& path, const std::string& body, const char* type = "application/json") {
    return test::RawClient(server_->port()).ask(request(path, body, type));
  }
  test::ClientResponse get(const std::string& path) {
    return test::RawClient(server_->port()).ask(test::http_request("GET", path));
  }
  static std::string error_of(const test::ClientResponse& response) {
    EXPECT_EQ(response.field("Content-Type"), "application/json; charset=utf-8");
    return nlohmann::json::parse(response.body).at("error");
  }
  static nlohmann::json json_of(const test::ClientResponse& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    return nlohmann::json::parse(response.body);
  }
  int ask(const std::string& bytes) { return test::RawClient(server_->port()).ask(bytes).status; }
  void expect_translates() { EXPECT_EQ(json_of(post("/translate", kAsk))["translatedText"], "ba"); }

  std::shared_ptr<Logger> log_ = test::silent_log();
  test::FakeTranslator translator_;
  std::optional<TranslationServer> server_;
};

TEST_F(TranslationServerTest, TranslatesJsonAndForms) {
  const nlohmann::json expected = {{"translatedText", "ba"}};
  EXPECT_EQ(json_of(post("/translate", kAsk)), expected);
  EXPECT_EQ(json_of(post("/translate", kAsk, "application/json; charset=UTF-8")), expected);
  EXPECT_EQ(json_of(post("/translate", "q=ab&source=de&target=en", "application/x-www-form-urlencoded")), expected);
  const auto parts = post("/translate",
                          "--XX\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nab\r\n--XX\r\n"
                          "Content-Disposition: form-data; name=\"source\"\r\n\r\nde\r\n--XX\r\n"
                          "Content-Disposition: form-data; name=\"target\"\r\n\r\nen\r\n--XX--\r\n",
                          "multipart/form-data; boundary=XX");
  EXPECT_EQ(json_of(parts), expected);
  EXPECT_EQ(json_of(post("/translate?q=ab&source=de&target=en", "", "")), expected)
      << "LibreTranslate takes these, too";
  const std::string long_text(90'000, 'a');
  EXPECT_EQ(json_of(post("/translate", "source=de&target=en&q=" + long_text,
                         "application/x-www-form-urlencoded"))["translatedText"],
            long_text);
}

TEST_F(TranslationServerTest, OtherRoutes) {
  EXPECT_EQ(json_of(get("/health")), nlohmann::json({{"status", "ok"}}));
  EXPECT_EQ(json_of(get("/languages"))[0]["code"], "de");
  EXPECT_FALSE(json_of(get("/frontend/settings"))["keyRequired"].get<bool>());
  EXPECT_EQ(json_of(post("/explain", kAsk))["lines"].size(), 1u);
  EXPECT_EQ(json_of(post("/detect", "q=the+house+is+old", "application/x-www-form-urlencoded"))[0]["language"], "en");
  const auto spec = json_of(get("/spec"));
  for (const char* path : {"/translate", "/detect", "/suggest", "/explain", "/languages", "/metrics", "/spec"})
    EXPECT_TRUE(spec["paths"].contains(path)) << path;
  EXPECT_EQ(get("/detect").status, 405);
}

TEST_F(TranslationServerTest, ThePageAndItsFiles) {
  const auto page = get("/");
  EXPECT_EQ(page.body, page_file("page.html")->text);
  EXPECT_TRUE(page.body.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.body.ends_with("</html>\n"));
  EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
  for (const auto& [name, type] :
       {std::pair("main.js", "text/javascript; charset=utf-8"), std::pair("style.css", "text/css; charset=utf-8"),
        std::pair("icon.svg", "image/svg+xml")}) {
    const auto file = get(std::string("/page/") + name);
    EXPECT_EQ(file.status, 200);
    EXPECT_EQ(file.body, page_file(name)->text);
    EXPECT_EQ(file.field("Content-Type"), type);
    EXPECT_EQ(file.field("X-Content-Type-Options"), "nosniff");
  }
  for (const char* missing : {"/page/", "/page/page.h", "/page/../page/main.js", "/page/nothing.js"})
    EXPECT_EQ(get(missing).status, 404) << missing;
  EXPECT_EQ(post("/page/main.js", "").status, 405);
}

TEST_F(TranslationServerTest, AFileOfThePageIsSentAgainWhenItChanged) {
  const auto file = get("/page/main.js");
  EXPECT_EQ(file.field("Cache-Control"), "no-cache");
  const auto ask = [&](const std::string& tag) {
    return test::RawClient(server_->port())
        .ask(test::http_request("GET", "/page/main.js", "", "", "If-None-Match: " + tag + "\r\n"));
  };
  const auto same = ask(file.field("ETag"));
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.field("ETag"), file.field("ETag"));
  EXPECT_EQ(same.field("Content-Length"), "") << "it has no body";
  EXPECT_EQ(ask("\"another\"").status, 200);
}

TEST_F(TranslationServerTest, NothingInThePageRunsButItsFiles) {
  const auto policy = get("/").field("Content-Security-Policy");
  for (const char* part : {"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self'",
                           "frame-ancestors 'none'", "require-trusted-types-for 'script'"})
    EXPECT_THAT(policy, HasSubstr(part));
  EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
  const std::string_view page = page_file("page.html")->text;
  for (const char* inline_code : {"<script>", "<style", " style=", " onclick=", "javascript:"})
    EXPECT_EQ(page.find(inline_code), page.npos) << inline_code;
  for (const auto& [name, text] : page_texts()) {
    for (const char* outside : {"https://", "@import", "url(", "innerHTML", "insertAdjacentHTML"})
      EXPECT_THAT(text, testing::Not(HasSubstr(outside))) << name;
    if (name == "icon.svg") continue;  // it names the namespace of drawings
    EXPECT_THAT(text, testing::Not(HasSubstr("http://"))) << name;
  }
}

TEST_F(TranslationServerTest, MetricsCountRoutesAndStatus) {
  expect_translates();
  post("/translate", "{}");
  get("/nowhere");
  get("/elsewhere");
  const auto metrics = get("/metrics");
  EXPECT_EQ(metrics.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"/translate\",status=\"200\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"/translate\",status=\"400\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_requests_total{route=\"other\",status=\"404\"} 2\n"));
  EXPECT_THAT(metrics.body, HasSubstr("nmt_sentences_total 1\n"));
}

TEST_F(TranslationServerTest, RefusalsAreJson) {
  struct Case {
    const char *path, *body, *type;
    int status;
    const char* says;
  };
  for (const Case& c : {
           Case{"/translate", "{}", "application/json", 400, "missing q parameter"},
           Case{"/translate", "{\"q\": \"M\xfcnchen\"}", "application/json", 400, "not UTF-8"},
           Case{"/translate", "{\"q\": \"\\u0000\"}", "application/json", 400, "NUL"},
           Case{"/translate", "q=%00", "application/x-www-form-urlencoded", 400, "NUL"},
           Case{"/translate", "q=%ff", "application/x-www-form-urlencoded", 400, "not UTF-8"},
           Case{"/translate", "ab", "text/plain", 415, "send JSON"},
           Case{"/translate", R"({"q": "ab", "source": "fr", "target": "en"})", "application/json", 400,
                "fr is not supported"},
           Case{"/translate", R"({"q": "fail", "source": "de", "target": "en"})", "application/json", 500,
                "log says why"},
           Case{"/translate", R"({"q": "ab", "source": "de"})", "application/json", 400, "missing target parameter"},
           Case{"/detect", "", "", 400, "Invalid request: missing q parameter"},
           Case{"/suggest", "{}", "application/json", 403, "Suggestions are disabled"},
           Case{"/languages", "{}", "application/json", 405, "send it by GET"},
           Case{"/nowhere", "ab", "text/plain", 404, "/page/NAME, /download_file/NAME and POST"},
           Case{"/no%0Awhere", "ab", "text/plain", 404, "no such page"},
       }) {
    const auto response = post(c.path, c.body, c.type);
    EXPECT_EQ(response.status, c.status) << c.path << " " << c.body;
    EXPECT_THAT(error_of(response), HasSubstr(c.says));
  }
  const auto wrong_method = get("/translate");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.field("Allow"), "POST");
  EXPECT_THAT(error_of(wrong_method), HasSubstr("send it by POST"));
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_EQ(ask(request("/translate", "{}", "application/json", "PUT")), 405);
  EXPECT_EQ(ask(request("/x", "{}", "application/json", "DELETE")), 404);
  expect_translates();
}

TEST_F(TranslationServerTest, ACompressedBodyIsToldSo) {
  const auto send = [&](const std::string& coding, const std::string& body) {
    return test::RawClient(server_->port())
        .ask(
            test::http_request("POST", "/translate", body, "application/json", "Content-Encoding: " + coding + "\r\n"));
  };
  const auto refused = send("gzip", "\x1f\x8b\x08");
  EXPECT_EQ(refused.status, 415);
  EXPECT_THAT(error_of(refused), HasSubstr("the body is compressed (gzip): send it as it is"));
  EXPECT_EQ(send("identity", kAsk).status, 200);
}

TEST_F(TranslationServerTest, AddressesOfDocumentsAreThoseOfTheProxy) {
  const std::string form =
      "--XX\r\nContent-Disposition: form-data; name=source\r\n\r\nde\r\n--XX\r\n"
      "Content-Disposition: form-data; name=target\r\n\r\nen\r\n--XX\r\n"
      "Content-Disposition: form-data; name=file; filename=\"=?utf-8?B?UHLDvGZ1bmcudHh0?=\"; "
      "filename*=utf-8''Pr%C3%BCfung.txt\r\n\r\nab\r\n--XX--\r\n";
  const auto url = [&](const std::string& fields, const std::string& path = "/translate_file") -> std::string {
    const auto reply = test::RawClient(server_->port())
                           .ask(test::http_request("POST", path, form, "multipart/form-data; boundary=XX", fields));
    const std::string whole = json_of(reply)["translatedFileUrl"];
    return whole.substr(0, whole.find("download_file/"));
  };
  EXPECT_EQ(url(""), "http://localhost/");
  EXPECT_EQ(url("X-Forwarded-Proto: https, http\r\n"), "https://localhost/") << "two proxies";
  EXPECT_EQ(url("X-Forwarded-Host: a.example:8443, inner\r\nX-Forwarded-Prefix: /mt/\r\nX-Forwarded-Proto: https\r\n"),
            "https://a.example:8443/mt/");
  EXPECT_EQ(url("X-Forwarded-Host: a.example/b\r\nX-Forwarded-Prefix: mt\r\n"), "http://localhost/") << "not usable";
  EXPECT_EQ(url("X-Forwarded-Host: a\"b\r\nX-Forwarded-Prefix: /m<t\r\n"), "http://localhost/");

  ServerOptions options;
  options.http.path_prefix = "/mt";
  options.http.limits.body_bytes = 10;
  options.http.limits.body_bytes_of["/translate_file"] = 1000;
  make(options);
  EXPECT_EQ(url(""), "http://localhost/mt/") << "of a proxy that takes the prefix off";
  EXPECT_EQ(url("", "/mt/translate_file"), "http://localhost/mt/") << "and of one that passes it on";
  EXPECT_EQ(url("X-Forwarded-Prefix: /other\r\n"), "http://localhost/other/");
  EXPECT_EQ(get("/mt/").body, get("/").body);
  EXPECT_EQ(get("/mt/page/main.js").status, 200);
  for (const char* none : {"/mt", "/mtx/", "/mt/mt/"}) EXPECT_EQ(get(none).status, 404) << none;
  EXPECT_THAT(get("/mt/metrics").body, HasSubstr("nmt_requests_total{route=\"/translate_file\",status=\"200\"} 3\n"));
  for (const char* wrong : {"mt", "/mt/", "/m t", "/mt?", "/"}) {
    options.http.path_prefix = wrong;
    EXPECT_THROW(make(options), Error) << wrong;
  }
}

TEST_F(TranslationServerTest, ThePathIsNeverTooNasty) {
  EXPECT_EQ(get("/" + std::string(8000, 'a')).status, 404);
  EXPECT_EQ(post("/" + std::string(8000, 'a'), "{}").status, 404);
  EXPECT_EQ(get("/no%0Awhere").status, 404);
  EXPECT_EQ(get("*").status, 404);
}

TEST_F(TranslationServerTest, AFullQueueSaysWhenToComeBack) {
  ServerOptions options;
  options.service.queue.max_waiting = 1;
  make(options);
  translator_.hold();
  const auto ask = [this] { return post("/translate", kAsk).status; };
  auto translating = std::async(std::launch::async, ask);
  translator_.wait_for_batches(1);
  auto waiting = std::async(std::launch::async, ask);
  ASSERT_TRUE(
      test::eventually([&] { return get("/metrics").body.find("\nnmt_queue_lines 1\n") != std::string::npos; }));
  const auto refused = post("/translate", kAsk);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Retry-After"), "1");
  EXPECT_EQ(json_of(get("/health"))["status"], "ok");
  translator_.release();
  EXPECT_EQ(translating.get(), 200);
  EXPECT_EQ(waiting.get(), 200);
  expect_translates();
}

/// Two of the requests do not fit in the memory, while the first is answered.
TEST_F(TranslationServerTest, WhatIsAnsweredStaysInTheBudget) {
  const std::string form =
      "--XX\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nde\r\n--XX\r\n"
      "Content-Disposition: form-data; name=\"target\"\r\n\r\nen\r\n--XX\r\n"
      "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nab\r\n--XX--\r\n";
  const std::string requests[] = {request("/translate", kAsk), request("/explain", kAsk),
                                  request("/translate_file", form, "multipart/form-data; boundary=XX")};
  for (const auto& bytes : requests) {
    ServerOptions options;
    const auto body = static_cast<int64_t>(bytes.size() - bytes.find("\r\n\r\n") - 4);
    options.http.limits.all_body_bytes = body + body / 2;
    make(options);
    const auto before = translator_.batches().size();
    translator_.hold();
    test::RawClient first(server_->port());
    first.send(bytes);
    translator_.wait_for_batches(before + 1);
    EXPECT_EQ(ask(bytes), 503) << bytes;
    translator_.release();
    EXPECT_EQ(first.read().status, 200);
    EXPECT_TRUE(test::eventually([&] { return ask(bytes) == 200; })) << "it is given back";
  }
}

TEST_F(TranslationServerTest, StopAnswersWhatHasComeIn) {
  translator_.hold();
  auto in_flight = std::async(std::launch::async, [this] { return post("/translate", kAsk).body; });
  translator_.wait_for_batches(1);
  auto stopped = std::async(std::launch::async, [this] { server_->stop(); });
  EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout) << "a request is under way";
  translator_.release();
  EXPECT_EQ(in_flight.get(), R"({"translatedText":"ba"})");
  stopped.get();
}

TEST_F(TranslationServerTest, OtherOriginsOnlyWhenAllowed) {
  EXPECT_EQ(get("/languages").field("Access-Control-Allow-Origin"), "");
  ServerOptions options;
  options.http.access.allowed_origin = "https://example.org";
  make(options);
  EXPECT_EQ(get("/languages").field("Access-Control-Allow-Origin"), "https://example.org");
  const auto preflight = test::RawClient(server_->port()).ask(test::http_request("OPTIONS", "/translate"));
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.field("Access-Control-Allow-Headers"), "Authorization, Content-Type");
}

TEST_F(TranslationServerTest, RefusesOptionsOutOfRange) {
  ServerOptions options;
  options.service.max_n_best = 0;
  EXPECT_THROW(TranslationServer(translator_.function(), options, *log_), Error);
}

TEST_F(TranslationServerTest, AClientThatGoesCostsNoMore) {
  translator_.hold();
  test::RawClient first(server_->port()), second(server_->port());
  first.send(request("/translate", kAsk));
  translator_.wait_for_batches(1);
  second.send(request("/translate", R"({"q": ["x", "y", "z"], "source": "de", "target": "en"})"));
  ASSERT_TRUE(
      test::eventually([&] { return get("/metrics").body.find("\nnmt_queue_lines 3\n") != std::string::npos; }));
  second.close();
  EXPECT_TRUE(
      test::eventually([&] { return get("/metrics").body.find("\nnmt_queue_lines 0\n") != std::string::npos; }));
  translator_.release();
  EXPECT_EQ(first.read().status, 200);
  EXPECT_EQ(translator_.batches().size(), 1u);
}

/// Clients that send what they like, beside one that must always be answered.
TEST_F(TranslationServerTest, OneClientIsServedWhateverOthersSend) {
  std::atomic<bool> ended = false;
  std::vector<std::thread> others;
  const auto other = [&](int seed) {
    std::mt19937 random(seed);
    const std::vector<std::string> pieces = {"POST /translate HTTP/1.1\r\n",
                                             "Host: localhost\r\n",
                                             "\r\n",
                                             "Content-Length: 40\r\n",
                                             "Transfer-Encoding: chunked\r\n",
                                             R"({"q": "ab", "source": "de", "target": "en"})",
                                             "Content-Type: application/json\r\n",
                                             "GET /metrics HTTP/1.1\r\n",
                                             "5\r\nabcde\r\n",
                                             "0\r\n\r\n",
                                             std::string("\0\xff\xfe", 3),
                                             std::string(30'000, '['),
                                             "Expect: 100-continue\r\n",
                                             "Content-Type: multipart/form-data; boundary=X\r\n",
                                             "--X\r\n",
                                             "--X--"};
    while (!ended) {
      test::RawClient client(server_->port());
      for (unsigned count = random() % 20; count > 0; --count) {
        if (!client.send(pieces[random() % pieces.size()])) break;
      }
      if (random() % 2) client.end_sending();
      if (random() % 2) client.is_closed_within(std::chrono::milliseconds(random() % 50));
    }
  };
  for (int seed = 0; seed < 8; ++seed) others.emplace_back(other, seed);
  for (int i = 0; i < 500; ++i) expect_translates();
  ended = true;
  for (auto& thread : others) thread.join();
}

}  // namespace
}  // namespace nmt::translation_server_test
