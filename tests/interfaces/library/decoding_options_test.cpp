// What is made of the table of options, and compared with it: nmt/decoding_options.h and the package's
// _decoding_options.py. NMT_UPDATE_DOCS=1 rewrites them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "config/option_table.h"
#include "config/value.h"
#include "library/inner/settings.h"
#include "support.h"

namespace nmt::decoding_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct TypeNames {
  std::string cpp, python;
};

TypeNames types_of(const Option& option) {
  Config config;
  const Field field = option.of(config);
  if (std::holds_alternative<bool*>(field)) return {"bool", "bool"};
  if (std::holds_alternative<int64_t*>(field)) return {"std::int64_t", "int"};
  if (std::holds_alternative<double*>(field)) return {"double", "float"};
  if (std::holds_alternative<std::vector<std::string>*>(field)) return {"std::vector<std::string>", "Sequence[str]"};
  return {"std::string", "str"};
}

std::string help_of(const Option& option) {
  const std::string limits = describe_limits(option);
  return std::string(option.help) + (limits.empty() ? "" : fmt::format(" ({})", limits));
}

// Doxygen takes <unk> for a tag of HTML.
std::string doxygen_help_of(const Option& option) {
  return std::regex_replace(help_of(option), std::regex("[<>]"), "\\\\$&");
}

template <typename Row>
std::string rows(const Row& row) {
  std::string text;
  for (const Option& option : options())
    if (option.section == "decoding") text += row(option, types_of(option));
  return text;
}

std::string cpp_header() {
  return "// Made of the table of options by tests/interfaces/library/decoding_options_test.cpp: NMT_UPDATE_DOCS=1.\n"
         "// clang-format off\n"
         "#pragma once\n\n#include <cstdint>\n#include <optional>\n#include <string>\n#include <vector>\n\n"
         "#include \"nmt/export.h\"\n\nNMT_API_BEGIN\n\n"
         "/// The section `decoding` of docs/options.md. What is not set is as the model says.\n"
         "struct DecodingOptions {\n" +
         rows([](const Option& option, const TypeNames& types) {
           return fmt::format("  /// {}\n  std::optional<{}> {} = {{}};\n", doxygen_help_of(option), types.cpp,
                              option.name);
         }) +
         "};\n\n/// Calls call(name, member) for each option.\n"
         "template <typename Options, typename Call>\nvoid for_each_option(Options& options, const Call& call) {\n" +
         rows([](const Option& option, const TypeNames&) {
           return fmt::format("  call(\"{0}\", options.{0});\n", option.name);
         }) +
         "}\n\nNMT_API_END\n";
}

std::string python_module() {
  return "\"\"\"The section ``decoding`` of docs/options.md.\n\nMade of the table of options by "
         "tests/interfaces/library/decoding_options_test.cpp: NMT_UPDATE_DOCS=1.\n\"\"\"\n\n"
         "from typing import Optional, Sequence, TypedDict\n\n\n"
         "class DecodingOptions(TypedDict, total=False):\n"
         "    \"\"\"How a translation is searched for. What is not given, or None, is as the model says.\"\"\"\n\n" +
         rows([](const Option& option, const TypeNames& types) {
           if (option.name == "sampling") return std::string();  // nmt.Sampling: TranslateOptions has it
           return fmt::format("    #: {}\n    {}: Optional[{}]\n", help_of(option), option.name, types.python);
         });
}

void expect_file(const std::string& name, const std::string& expected) {
  const auto path = test::source_directory() / name;
  if (std::getenv("NMT_UPDATE_DOCS") != nullptr) write_file_atomically(path, expected);
  EXPECT_EQ(read_file(path, size_t{1} << 20), expected)
      << name << " is not what the table of options says: NMT_UPDATE_DOCS=1 writes it";
}

TEST(DecodingOptions, AreThoseOfTheTable) {
  expect_file("interfaces/library/include/nmt/decoding_options.h", cpp_header());
  expect_file("python/nmt/_decoding_options.py", python_module());
}

TEST(DecodingOptions, GoToTheTableByTheirNames) {
  api::DecodingOptions options{.beam_size = 3, .length_penalty = 0.25, .ban_unknown = true};
  options.banned_phrases = {"a, b", "\"c\""};
  EXPECT_THAT(api::settings_of(options),
              ElementsAre(Pair("beam_size", "3"), Pair("length_penalty", "0.25"), Pair("ban_unknown", "true"),
                          Pair("banned_phrases", R"(["a, b","\"c\""])")));
  const auto config = api::with_settings({}, api::settings_of(options));
  EXPECT_THAT(config.decoding.banned_phrases, ElementsAre("a, b", "\"c\""));
}

TEST(DecodingOptions, AreSetByName) {
  api::DecodingOptions options;
  api::set_option(options, "beam_size", "7");
  api::set_option(options, "decoding.stopping", "first");
  api::set_option(options, "banned_phrases", "[a, b]");
  EXPECT_EQ(options.beam_size, 7);
  EXPECT_EQ(options.stopping, "first");
  EXPECT_THAT(*options.banned_phrases, ElementsAre("a", "b"));
  EXPECT_THAT(test::message_of<api::UserError>([&] { api::set_option(options, "beam_sise", "7"); }),
              HasSubstr("did you mean decoding.beam_size"));
  EXPECT_THAT(test::message_of<api::UserError>([&] { api::set_option(options, "beam_size", "x"); }),
              HasSubstr("beam_size"));
}

TEST(DecodingOptions, SamplesAreDrawnWithoutABeam) {
  EXPECT_THAT(api::settings_of({.sampling = true}), ElementsAre(Pair("sampling", "true"), Pair("beam_size", "1")));
}

}  // namespace
}  // namespace nmt::decoding_options_test
