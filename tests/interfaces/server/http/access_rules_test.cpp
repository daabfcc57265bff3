#include <gmock/gmock.h>

#include <string>

#include "base/error.h"
#include "server/http/http_options.h"

namespace nmt::access_rules_test {
namespace {

/// The status with which a request is refused; 0 for none.
int refusal(const AccessRules& rules, const std::string& host, const std::string& origin = "",
            const std::string& method = "POST") {
  HttpRequest request{.method = method};
  request.fields = {{"host", host}};
  if (!origin.empty()) request.fields.emplace_back("ORIGIN", origin);
  const auto refused = rules.refusal(request);
  return refused ? refused->status : 0;
}

const Address kLocal{.host = "127.0.0.1", .port = 80}, kPublic{.host = "0.0.0.0", .port = 80};

TEST(AccessRules, ALocalAddressHasLocalNames) {
  const AccessRules rules({}, kLocal);
  for (const char* host : {"127.0.0.1:80", "127.0.0.1", "localhost:8080", "localhost", "[::1]:80", "127.1.2.3", ""})
    EXPECT_EQ(refusal(rules, host), 0) << host;
  for (const char* host : {"evil.example", "evil.example:80", "127.evil.example", "localhost.evil.example", "10.0.0.1",
                           "[::2]", "[", "127.0.0.1.evil.example:80"})
    EXPECT_EQ(refusal(rules, host, "", "GET"), 421) << host;
  const AccessRules named({.allowed_hosts = {"box.lan"}}, kLocal);
  EXPECT_EQ(refusal(named, "BOX.lan:99"), 0);
  EXPECT_EQ(refusal(named, "other.lan"), 421);
  EXPECT_EQ(refusal(AccessRules({.allowed_hosts = {"*"}}, kLocal), "other.lan"), 0);
  EXPECT_EQ(refusal(AccessRules({}, kPublic), "box.example"), 0) << "a public address has any name";
}

TEST(AccessRules, PagesOfOtherOrigins) {
  const AccessRules rules({}, kLocal);
  EXPECT_EQ(refusal(rules, "localhost:80", "http://localhost:80"), 0) << "our own page";
  for (const char* origin : {"http://evil.example", "http://localhost:81", "null", "https://evil.example:80", "x"}) {
    EXPECT_EQ(refusal(rules, "localhost:80", origin), 403) << origin;
    EXPECT_EQ(refusal(rules, "localhost:80", origin, "GET"), 0) << "the browser keeps the answer from it";
  }
  const AccessRules capitals({.allowed_origin = "HTTPS://A.Example"}, kPublic);
  EXPECT_EQ(refusal(capitals, "box.example", "https://a.example"), 0);
  const AccessRules one({.allowed_origin = "https://a.example"}, kPublic), all({.allowed_origin = "*"}, kLocal);
  EXPECT_EQ(refusal(one, "box.example", "https://a.example"), 0);
  EXPECT_EQ(refusal(one, "box.example", "https://b.example"), 403);
  EXPECT_EQ(refusal(all, "localhost", "https://b.example"), 0);
  EXPECT_EQ(refusal(AccessRules({}, kPublic), "box.example", "https://b.example"), 0) << "anybody may send it anyway";
}

TEST(AccessRules, Cors) {
  const auto names = [](const AccessRules& rules) {
    std::string all;
    for (const auto& [name, value] : rules.fields()) all += name + ": " + value + "\n";
    return all;
  };
  EXPECT_EQ(names(AccessRules({}, kLocal)), "X-Content-Type-Options: nosniff\n");
  EXPECT_THAT(names(AccessRules({.allowed_origin = "https://a.example"}, kLocal)),
              testing::HasSubstr("Access-Control-Allow-Origin: https://a.example\n"));
}

TEST(AccessRules, WhatNoPageOrServerCanBeIsRefused) {
  const auto refused = [](const AccessOptions& options) -> std::string {
    try {
      options.validate();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* origin : {"", "*", "null", "https://a.example", "http://localhost:8080", "http://[::1]:80"})
    EXPECT_EQ(refused({.allowed_origin = origin}), "") << origin;
  for (const char* origin : {"foo", "a.example", "https://", "https://a.example/", "https://a.example/page"})
    EXPECT_EQ(refused({.allowed_origin = origin}),
              std::string("--allow-origin ") + origin +
                  ": is no origin, which is a scheme, a name and perhaps a port: https://example.org; * for all");
  EXPECT_EQ(refused({.allowed_hosts = {"*", "box.lan", "box.lan:8080", "10.0.0.1", "[fe80::1]:80", "fe80::1"}}), "");
  for (const char* host : {"", "https://x.example", "x.example/"})
    EXPECT_EQ(refused({.allowed_hosts = {"box.lan", host}}),
              std::string("--allow-host '") + host +
                  "': is no name of a host; write it as example.org, or example.org:8080; * for all");
}

}  // namespace
}  // namespace nmt::access_rules_test
