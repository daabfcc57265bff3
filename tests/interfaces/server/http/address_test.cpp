#include <gtest/gtest.h>

#include "base/error.h"
#include "server/http/http_options.h"

namespace nmt::address_test {
namespace {

TEST(Address, HostAndPort) {
  struct Case {
    const char *text, *host, *url;
    bool local;
  };
  for (const Case& c :
       {Case{"0.0.0.0:80", "0.0.0.0", "http://0.0.0.0:80", false},
        Case{"localhost:8080", "localhost", "http://localhost:8080", true},
        Case{":8080", "127.0.0.1", "http://127.0.0.1:8080", true},
        Case{"8080", "127.0.0.1", "http://127.0.0.1:8080", true}, Case{"0", "127.0.0.1", "http://127.0.0.1:0", true},
        Case{"[::1]:8080", "::1", "http://[::1]:8080", true}, Case{"[::]:8080", "::", "http://[::]:8080", false},
        Case{"127.evil.example:80", "127.evil.example", "http://127.evil.example:80", false}}) {
    const auto address = Address::parse(c.text);
    EXPECT_EQ(address.host, c.host) << c.text;
    EXPECT_EQ(address.url(), c.url) << c.text;
    EXPECT_EQ(address.is_local(), c.local) << c.text;
  }
}

TEST(Address, RefusesOtherTexts) {
  for (const char* text : {"", ":", "localhost", "localhost:", "localhost:http", "host:-1", "host:65536", "host:80x",
                           "::1:8080", "[]:80", "host: 80"})
    EXPECT_THROW(Address::parse(text), Error) << text;
}

}  // namespace
}  // namespace nmt::address_test
