#include "config/option_table.h"

#include <set>

#include "config/value.h"
#include "support.h"

namespace nmt::option_table_test {
namespace {

/// Converts to anything: T{Anything(), ...} compiles with as many as T has members.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: implicit on purpose, never defined
};

template <typename T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Anything())...}; };
}

template <typename T, size_t Count = 0>
constexpr size_t member_count() {
  if constexpr (takes<T>(std::make_index_sequence<Count + 1>())) {
    return member_count<T, Count + 1>();
  } else {
    return Count;
  }
}

size_t options_of(std::string_view section) {
  size_t count = 0;
  for (const Option& option : options()) count += option.section == section;
  return count;
}

TEST(OptionTable, HasEveryMemberOfEverySection) {
  EXPECT_EQ(options_of("data"), member_count<DataConfig>());
  EXPECT_EQ(options_of("model"), member_count<ModelConfig>());
  EXPECT_EQ(options_of("training"), member_count<TrainingConfig>());
  EXPECT_EQ(options_of("validation"), member_count<ValidationConfig>());
  EXPECT_EQ(options_of("decoding"), member_count<DecodingConfig>());
  EXPECT_EQ(options_of("evaluation"), member_count<EvaluationConfig>());
  EXPECT_EQ(options_of("run"), member_count<RunConfig>());
  EXPECT_EQ(sections().size(), member_count<Config>());
}

TEST(OptionTable, HasEachMemberAndEachNameOnce) {
  Config config;
  std::set<const void*> members;
  std::set<std::string> keys;
  for (const Option& option : options()) {
    const void* member = std::visit([](auto* field) -> const void* { return field; }, option.of(config));
    EXPECT_TRUE(members.insert(member).second) << option.key();
    EXPECT_TRUE(keys.insert(option.key()).second) << option.key();
    EXPECT_EQ(find_option(option.section, option.name), &option);
  }
  EXPECT_EQ(find_option("training", "lrr"), nullptr);
  EXPECT_EQ(find_option("model", "lr"), nullptr);
}

TEST(OptionTable, ExplainsEveryOptionInOneLine) {
  for (const Option& option : options()) {
    EXPECT_GE(option.help.size(), 10u) << option.key();
    EXPECT_EQ(option.help.find('\n'), std::string_view::npos) << option.key();
    EXPECT_FALSE(option.help.ends_with('.')) << option.key();
  }
}

TEST(OptionTable, AllowsItsOwnDefaults) {
  for (const Option& option : options()) {
    const Config defaults;
    Config config;
    const std::string text = format_value(option, defaults);
    // Texts that must be set may be empty by default only where they are lists.
    ASSERT_NO_THROW(assign_value(config, option, YAML::Load(text), "here")) << option.key() << " = " << text;
    EXPECT_EQ(format_value(option, config), text) << option.key();
  }
}

}  // namespace
}  // namespace nmt::option_table_test
