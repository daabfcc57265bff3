#include "server/documents/download_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "server/http/http_message.h"

namespace nmt {
namespace {

using namespace std::chrono_literals;

constexpr DownloadLimits kSmall{.bytes = 400, .life = 60s};
const DownloadStore::Clock::time_point kStart{};

Download document(size_t bytes, const std::string& name = "letter.docx") {
  return {std::string(bytes, 'x'), name, "application/octet-stream"};
}

TEST(DownloadStore, NamesCannotBeGuessed) {
  DownloadStore store;
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(store.add(document(1), "a"));
  EXPECT_EQ(names.size(), 100u);
  for (const auto& name : names) EXPECT_THAT(name, testing::MatchesRegex("[0-9a-f]{32}\\.docx"));
  EXPECT_EQ(store.find("letter.docx"), nullptr);
  EXPECT_EQ(store.find(""), nullptr);
}

TEST(DownloadStore, KeepsDocumentsForAWhile) {
  DownloadStore store(kSmall);
  const auto name = store.add(document(10, "a letter.odt"), "a", kStart);
  const auto found = store.find(name, kStart + 59s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, std::string(10, 'x'));
  EXPECT_EQ(found->file_name, "a letter.odt");
  EXPECT_EQ(store.find(name, kStart + 60s), nullptr);
  EXPECT_EQ(found->bytes.size(), 10u) << "who is being answered still has it";
}

TEST(DownloadStore, AClientThatHasTooMuchLosesItsOldest) {
  DownloadStore store(kSmall);
  const auto others = store.add(document(100), "b", kStart), first = store.add(document(60), "a", kStart + 1s),
             second = store.add(document(40), "a", kStart + 2s), third = store.add(document(50), "a", kStart + 3s);
  EXPECT_FALSE(store.find(first, kStart + 3s));
  EXPECT_TRUE(store.find(second, kStart + 3s));
  EXPECT_TRUE(store.find(third, kStart + 3s));
  EXPECT_TRUE(store.find(others, kStart + 3s));
}

TEST(DownloadStore, IsNeverLargerThanItMayBe) {
  DownloadStore store(kSmall);
  EXPECT_THROW(store.add(document(101), "a", kStart), RequestError);
  for (const char* client : {"a", "b", "c", "d"}) store.add(document(100), client, kStart);
  EXPECT_THROW(store.add(document(1), "e", kStart + 1s), RequestError);
  EXPECT_NO_THROW(store.add(document(1), "e", kStart + 60s));
}

}  // namespace
}  // namespace nmt
