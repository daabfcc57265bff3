#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "support.h"

namespace nmt::text_sets_test {
namespace {

using test::message_of;

Config config_of(const std::string& yaml) { return parse_config(yaml, "f").config; }

TEST(TextSets, OfTheSingleFormHaveNoName) {
  const auto config = config_of("data: {eval1: a, eval2: b}");
  const auto sets = validation_sets(config.data);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].split, "valid");
  EXPECT_EQ(sets[0].text, (TextSet{"", "a", "b"}));
  EXPECT_EQ(sets[0].source_option, "data.eval1");
  EXPECT_EQ(sets[0].target_option, "data.eval2");
  EXPECT_TRUE(test_sets(config.data).empty());
}

TEST(TextSets, OfAListAreSplitsOfTheirNames) {
  const std::string yaml =
      "data:\n  test:\n    - {name: tst2013, source: a, target: b, languages: fr-de}\n    - {target: d, source: 'c c', "
      "name: "
      "tst-2014.v1}\n";
  const auto config = config_of(yaml);
  const auto sets = test_sets(config.data);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].split, "test");
  EXPECT_EQ(sets[0].text.name, "tst2013");
  EXPECT_EQ(sets[0].text.languages, "fr-de");
  EXPECT_EQ(sets[1].split, "test.tst-2014.v1");
  EXPECT_EQ(sets[1].text, (TextSet{"tst-2014.v1", "c c", "d"}));
  EXPECT_EQ(sets[1].source_option, "data.test");
  EXPECT_EQ(config_of(to_yaml(config)).data.test, config.data.test);
  EXPECT_EQ(config_of(to_json(config).dump()).data.test, config.data.test);
  EXPECT_EQ(parse_config("", "f", {"data.test=[{name: x, source: a, target: b}]"}).config.data.test[0].name, "x");
  EXPECT_TRUE(config_of("data: {test: []}").data.test.empty());
}

TEST(TextSets, SayWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"eval: a.de", "data.eval: needs a list of sets, not 'a.de'"},
      {"eval: [a.de]", "data.eval: each entry of the list must be {name: ..., source: FILE, target: FILE}"},
      {"eval: [{name: a, source: b}]", "data.eval: a set has no target; write {name: ..., source: FILE, target: FILE}"},
      {"eval: [{name: a, source: b, target: c, weight: d}]",
       "data.eval: 'weight' is not one of: name, source, target, languages"},
      {"eval: [{name: a, source: [b], target: c}]", "data.eval: 'source' of a set must be a text"},
      {"eval: [{name: a/b, source: b, target: c}]",
       "data.eval: 'a/b' is no name of a set; use at most 100 letters, digits, '_', '-' and '.'"},
      {"eval: [{name: a, source: b, target: c}, {name: a, source: b, target: c}]", "data.eval: a stands twice"},
      {"eval: [{name: a, name: b, source: b, target: c}]", "data.eval: 'name' of a set stands twice"},
      {"eval: [{name: a, source: b, target: c}], eval1: d, eval2: e",
       "data.eval: stands beside data.eval1 and eval2; write that set into the list, or leave one out"},
      {"test: [{name: a, source: b, target: c}], test1: d, test2: e",
       "data.test: stands beside data.test1 and test2; write that set into the list, or leave one out"},
  };
  for (const auto& [yaml, message] : cases)
    EXPECT_EQ(message_of<Error>([&] { config_of("data: {" + yaml + "}"); }), "f:1: " + message);
  const auto named = [](size_t length) {
    return "data: {test: [{name: " + std::string(length, 'a') + ", source: b, target: c}]}";
  };
  EXPECT_NO_THROW(config_of(named(100)));
  EXPECT_THROW(config_of(named(101)), Error);
}

TEST(TextSets, AreWhatValidationNeeds) {
  EXPECT_EQ(
      config_of("{data: {eval: [{name: a, source: b, target: c}], drop_test_overlap: true}, validation: {every: 5}}")
          .validation.every,
      5);
}

}  // namespace
}  // namespace nmt::text_sets_test
