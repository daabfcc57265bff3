#include "search/rules/token_bans.h"

#include <gmock/gmock.h>

#include "text/tokenizer.h"

namespace nmt::token_bans_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;

Ids banned_after(const SearchOptions& options, const Ids& tokens) {
  Ids banned;
  add_banned_tokens(options, tokens, banned);
  return banned;
}

TEST(TokenBans, AreNoneByDefault) {
  EXPECT_FALSE(has_bans({}));
  EXPECT_THAT(banned_after({}, {5, 5, 5, 5}), IsEmpty());
}

TEST(TokenBans, TheEndIsBannedBeforeTheMinimum) {
  const SearchOptions options{.min_length = 2};
  EXPECT_TRUE(has_bans(options));
  EXPECT_THAT(banned_after(options, {}), ElementsAre(SpecialIds::kEnd));
  EXPECT_THAT(banned_after(options, {5}), ElementsAre(SpecialIds::kEnd));
  EXPECT_THAT(banned_after(options, {5, 6}), IsEmpty());
}

TEST(TokenBans, SequencesAreStoppedBeforeTheirLastToken) {
  const SearchOptions options{.banned = {{7}, {5, 6}, {5, 5, 8}}};
  EXPECT_TRUE(has_bans(options));
  EXPECT_THAT(banned_after(options, {}), ElementsAre(7));
  EXPECT_THAT(banned_after(options, {5}), ElementsAre(7, 6));
  EXPECT_THAT(banned_after(options, {9, 5, 5}), ElementsAre(7, 6, 8));
  EXPECT_THAT(banned_after(options, {5, 9}), ElementsAre(7));
}

TEST(TokenBans, NoNGramComesTwice) {
  EXPECT_THAT(banned_after({.no_repeat_ngram_size = 1}, {5, 6}), ElementsAre(5, 6));
  const SearchOptions bigrams{.no_repeat_ngram_size = 2};
  EXPECT_TRUE(has_bans(bigrams));
  EXPECT_THAT(banned_after(bigrams, {5}), IsEmpty());
  EXPECT_THAT(banned_after(bigrams, {5, 6, 5}), ElementsAre(6));
  EXPECT_THAT(banned_after(bigrams, {5, 5}), ElementsAre(5)) << "it may overlap itself";
  EXPECT_THAT(banned_after(bigrams, {5, 6, 5, 7, 5}), ElementsAre(6, 7));
  EXPECT_THAT(banned_after({.no_repeat_ngram_size = 3}, {5, 6, 7, 5, 6}), ElementsAre(7));
}

TEST(TokenBans, UnknownWordsOnRequest) {
  EXPECT_TRUE(has_bans({.ban_unknown = true}));
  EXPECT_THAT(banned_after({.ban_unknown = true}, {}), ElementsAre(SpecialIds::kUnknown));
}

}  // namespace
}  // namespace nmt::token_bans_test
