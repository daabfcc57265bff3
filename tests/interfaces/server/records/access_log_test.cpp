#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "server/records/metrics.h"
#include "support.h"

namespace nmt {
namespace {

TEST(AccessLog, WritesALineForEachRequest) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "access.log";
  AccessLog log(path.string());
  log.add({.client = "10.0.0.1",
           .method = "POST",
           .path = "/translate",
           .status = 200,
           .received_bytes = 10,
           .sent_bytes = 20,
           .time = std::chrono::milliseconds(1500)});
  auto line = nlohmann::json::parse(read_file(path));
  EXPECT_THAT(line["time"].get<std::string>(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
  line.erase("time");
  EXPECT_EQ(line, nlohmann::json::parse(R"({"client": "10.0.0.1", "method": "POST", "path": "/translate",
                                            "status": 200, "received": 10, "sent": 20, "seconds": 1.5})"));
}

TEST(AccessLog, ALineIsALineWhateverThePath) {
  const test::TemporaryDirectory folder;
  AccessLog log((folder / "access.log").string());
  const std::string path = "/\xff\n\"" + std::string(100'000, 'x');
  HttpExchange exchange{};
  exchange.path = path;
  log.add(exchange);
  const auto text = read_file(folder / "access.log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_LT(text.size(), 1000u);
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(AccessLog, IsOpenedAnewWhenItWasMoved) {
  const test::TemporaryDirectory folder;
  AccessLog log((folder / "access.log").string());
  log.add({});
  std::filesystem::rename(folder / "access.log", folder / "old.log");
  log.use(log.open());
  log.add({});
  log.add({});
  const auto lines = [&](const char* name) {
    const auto text = read_file(folder / name);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines("old.log"), 1);
  EXPECT_EQ(lines("access.log"), 2);
}

TEST(AccessLog, IsNotThereUnlessAskedFor) {
  AccessLog("").add({});
  EXPECT_THROW(AccessLog("/no/such/folder/access.log"), Error);
  EXPECT_THROW(AccessLog("/dev/null"), Error) << "a device";
}

}  // namespace
}  // namespace nmt
