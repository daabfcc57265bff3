#include "text/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "support.h"

namespace nmt::placeholders_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> found(const std::string& text) {
  std::vector<std::string> result;
  for (const auto& [begin, end] : find_placeholders(text)) result.push_back(text.substr(begin, end - begin));
  return result;
}

TEST(Placeholders, AreAddresses) {
  EXPECT_THAT(found("See https://example.org/a?b=c#d, or (http://x.org/y_(z)). WWW.example.com!"),
              ElementsAre("https://example.org/a?b=c#d", "http://x.org/y_(z)", "WWW.example.com"));
  EXPECT_THAT(found("Schreib an max.muster+tag@mail.example.org."), ElementsAre("max.muster+tag@mail.example.org"));
  EXPECT_THAT(found("mailto:a@b.org"), ElementsAre("mailto:a@b.org"));
}

TEST(Placeholders, AreNamesInBraces) {
  EXPECT_THAT(found("{name} {{user.id}} ${x} #{y} {0} {n:02d} {count, number} %{z}"),
              ElementsAre("{name}", "{{user.id}}", "${x}", "#{y}", "{0}", "{n:02d}", "{count, number}", "%{z}"));
}

TEST(Placeholders, AreMessagesAndTemplates) {
  const std::string plural = "{count, plural, one {# file} other {# files}}";
  EXPECT_THAT(found("Found " + plural + " for {{ user | upper }}, {sex,select, f{she} other{they}}."),
              ElementsAre(plural, "{{ user | upper }}", "{sex,select, f{she} other{they}}"));
  EXPECT_THAT(found("{this one, select few}, {{ open } and {count, plural, one {"), IsEmpty());
}

TEST(Placeholders, AreConversions) {
  EXPECT_THAT(found("%s %d%% %1$s %-5.2f %(name)s %@ %ld %i. %1$@, %12$@ %1$d"),
              ElementsAre("%s", "%d", "%%", "%1$s", "%-5.2f", "%(name)s", "%@", "%ld", "%i", "%1$@", "%12$@", "%1$d"));
}

TEST(Placeholders, AreNotWhatIsText) {
  EXPECT_THAT(found("100 % der Leute, 50 %, a{b, {this is no name} und } oder {"), IsEmpty());
  EXPECT_THAT(found("wwwhat http:// @home me@home a@ @b.c"), IsEmpty());
  EXPECT_THAT(found("5%der Leute"), IsEmpty());
  EXPECT_THAT(found(""), IsEmpty());
  EXPECT_THAT(found("{" + std::string(100, 'a') + "}"), IsEmpty()) << "longer than a name";
}

TEST(Placeholders, AreAlsoWhatTheUsersPatternsMatch) {
  const std::vector<std::string> patterns = {"%\\w+%",          "__\\w+__",    "\\$\\w+",    ":\\w+\\b",
                                             "\\[\\[.*?\\]\\]", "#{3}.+?#{3}", "(['*]).\\1", "[a-z]*+x?"};
  const PlaceholderPatterns own(std::span<const std::string>(patterns).first(7));
  const auto matches = [](const PlaceholderPatterns& some, const std::string& text) {
    std::vector<std::string> result;
    for (const auto& [begin, end] : some.find(text)) result.push_back(text.substr(begin, end - begin));
    return result;
  };
  EXPECT_THAT(matches(own, "\u00C4 %from% __count__ $User\u00C4 [[a b]] :name 'a' *b* 'c* ###T01###, 100 %."),
              ElementsAre("%from%", "__count__", "$User\u00C4", "[[a b]]", ":name", "'a'", "*b*", "###T01###"));
  EXPECT_THAT(matches(PlaceholderPatterns(std::vector<std::string>{"b", "ab", "a"}), "abb"), ElementsAre("ab", "b"));
  EXPECT_THAT(matches(PlaceholderPatterns(std::span<const std::string>(patterns).last(1)), "ab, c"),
              ElementsAre("ab", "c"));
  EXPECT_THAT(matches(own, ""), IsEmpty());
  EXPECT_THAT(test::message_of<Error>([] {
                PlaceholderPatterns(std::vector<std::string>{"a", "(b"});
              }),
              testing::HasSubstr("decoding.placeholders: '(b' is no regular expression"));
  // One that tries very many ways ends: it would find the last two letters.
  EXPECT_THAT(matches(PlaceholderPatterns(std::vector<std::string>{"(a|a)*b"}), std::string(24, 'a') + "c ab"),
              IsEmpty());
}

TEST(Placeholders, AreFoundInTimeThatGrowsWithTheLength) {
  // A service takes texts of strangers. Where the brackets were counted again for each one, a million took minutes.
  const std::string opening(500'000, '('), closing(500'000, ')');
  EXPECT_THAT(found("see www.a" + closing + closing), ElementsAre("www.a"));
  EXPECT_THAT(found("www.a" + opening + closing + "))].,)"), ElementsAre("www.a" + opening + closing));
  EXPECT_THAT(found("a@b.org" + std::string(1'000'000, '.')), ElementsAre("a@b.org"));
  std::string percents;
  for (int i = 0; i < 500'000; ++i) percents += "%(";
  EXPECT_THAT(found(percents + "%(name)s"), ElementsAre("%(name)s"));
}

TEST(Placeholders, EndAtTheLongestName) {
  const std::string longest = "%(" + std::string(63, 'a') + ")s";
  EXPECT_THAT(found(longest), ElementsAre(longest));
  EXPECT_THAT(found("%(" + std::string(64, 'a') + ")s"), IsEmpty());
}

TEST(Placeholders, KeepBracketsThatTheAddressOpens) {
  EXPECT_THAT(found("(www.a.org/x_(y)) [www.b.org/[z]] {www.c.org/{q}}"),
              ElementsAre("www.a.org/x_(y)", "www.b.org/[z]", "www.c.org/{q}"));
  EXPECT_THAT(found("www.a.org/(x.) www.b.org/(x]). www.c.org/x)]"),
              ElementsAre("www.a.org/(x.)", "www.b.org/(x])", "www.c.org/x"));
}

TEST(Placeholders, DoNotOverlap) {
  const std::string text = "x%s%sy{a}{b}https://e.org/{id}";
  size_t behind = 0;
  for (const auto& [begin, end] : find_placeholders(text)) {
    EXPECT_GE(begin, behind);
    EXPECT_GT(end, begin);
    behind = end;
  }
  EXPECT_EQ(found(text).back(), "https://e.org/{id}");
}

}  // namespace
}  // namespace nmt::placeholders_test
