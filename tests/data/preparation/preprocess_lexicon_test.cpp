#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "data/lexicon.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::preprocess_lexicon_test {
namespace {

using test::message_of;
using testing::HasSubstr;

class PrepareLexicon : public test::PrepareFixture {
 protected:
  PrepareLexicon() { config_.data.shortlist = 5; }
  std::filesystem::path lexicon_path() const { return std::filesystem::path(config_.data.dir) / kLexiconFile; }
};

TEST_F(PrepareLexicon, NamesTheTranslationsOfPieces) {
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kWritten);
  EXPECT_THAT(log_.str(), HasSubstr("shortlist.bin: "));
  const auto data = open_prepared_data(config_);
  ASSERT_TRUE(data.lexicon);
  EXPECT_EQ(data.lexicon->max(), 5);
  EXPECT_EQ(data.lexicon->source_vocabulary(), data.codec.source().size());
  EXPECT_EQ(data.lexicon->target_vocabulary(), data.codec.target().size());
  EXPECT_EQ(data.lexicon->vocabularies(), vocabularies_of(data.codec));
  for (const auto& [german, english] : {std::pair("zwei", "two"), {"sechs", "six"}, {"neun", "nine"}}) {
    const auto source = data.codec.encode_source(german), target = data.codec.encode_target(english);
    for (const int32_t wanted : target) {
      bool found = false;
      for (const int32_t piece : source) {
        const auto best = data.lexicon->best(piece);
        EXPECT_LE(best.size(), 5u);
        found = found || std::ranges::find(best, wanted) != best.end();
      }
      EXPECT_TRUE(found) << data.codec.target().piece(wanted) << " of " << german;
    }
  }
}

TEST_F(PrepareLexicon, IsMadeOnlyWhenAskedFor) {
  config_.data.shortlist = 0;
  prepare();
  EXPECT_FALSE(std::filesystem::exists(lexicon_path()));
  EXPECT_FALSE(open_prepared_data(config_).lexicon);
  const auto hash = open_prepared_data(config_).hash;
  config_.data.shortlist = 5;
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), HasSubstr("data.shortlist: 0 -> 5"));
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_EQ(open_prepared_data(config_).hash, hash) << "a run resumes with the same data";
  config_.data.shortlist = 0;
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_FALSE(std::filesystem::exists(lexicon_path()));
}

TEST_F(PrepareLexicon, DoesNotDependOnTheThreads) {
  prepare();
  const auto expected = read_file(lexicon_path());
  std::filesystem::remove_all(config_.data.dir);
  config_.run.threads = 1;
  prepare();
  EXPECT_EQ(read_file(lexicon_path()), expected);
}

TEST_F(PrepareLexicon, IsCheckedWhereItStands) {
  prepare();
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  auto bytes = read_file(lexicon_path());
  bytes[bytes.size() / 2] ^= 1;
  write_file_atomically(lexicon_path(), bytes);
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), HasSubstr("shortlist.bin: damaged"));
  EXPECT_THAT(message_of<Error>([&] { open_prepared_data(config_); }), HasSubstr("shortlist.bin: damaged"));
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_TRUE(open_prepared_data(config_).lexicon);
  std::filesystem::remove(lexicon_path());
  EXPECT_THAT(message_of<Error>([&] { open_prepared_data(config_); }), HasSubstr("shortlist.bin"));
}

}  // namespace
}  // namespace nmt::preprocess_lexicon_test
