#include "scoring/command/argument_parser.h"

#include "base/error.h"
#include "support.h"

namespace nmt::scoring::argument_parser_test {
namespace {

using nmt::test::message_of;
using Words = std::vector<std::string>;

const std::vector<ArgumentOption> kOptions = {{{"--input", "-i"}, Arity::kAny},
                                              {{"--metrics", "-m"}, Arity::kAtLeastOne, {"bleu", "chrf"}},
                                              {{"--width", "-w"}, Arity::kOne},
                                              {{"--short", "-sh"}},
                                              {{"--smooth", "-s"}, Arity::kOne},
                                              {{"--quiet", "-q"}},
                                              {{"--score-only", "-b"}},
                                              {{"--paired-ar", "-par"}, Arity::kFlag, {}, false, "--paired-bs"},
                                              {{"--paired-bs", "-pbs"}, Arity::kFlag, {}, false, "--paired-ar"},
                                              {{"--version", "-V"}, Arity::kFlag, {}, true}};

struct ParseCase {
  Words arguments, positionals;
  std::map<std::string, Words> options;
};

TEST(ArgumentParser, ReadsWhatArgparseReads) {
  const std::vector<ParseCase> cases = {{{}, {}, {}},
                                        {{"r", "r2", "-i", "a", "b"}, {"r", "r2"}, {{"--input", {"a", "b"}}}},
                                        {{"-q", "r", "-i"}, {"r"}, {{"--quiet", {}}, {"--input", {}}}},
                                        {{"-i", "a", "--", "r", "-q"}, {"r", "-q"}, {{"--input", {"a"}}}},
                                        {{"r", "-w4"}, {"r"}, {{"--width", {"4"}}}},
                                        {{"r", "-w=4"}, {"r"}, {{"--width", {"4"}}}},
                                        {{"r", "--wid", "4"}, {"r"}, {{"--width", {"4"}}}},
                                        {{"r", "--width=4"}, {"r"}, {{"--width", {"4"}}}},
                                        {{"r", "-w", "-1"}, {"r"}, {{"--width", {"-1"}}}},
                                        {{"r", "-w", "-.5"}, {"r"}, {{"--width", {"-.5"}}}},
                                        {{"r", "-qb"}, {"r"}, {{"--quiet", {}}, {"--score-only", {}}}},
                                        {{"r", "-qw3"}, {"r"}, {{"--quiet", {}}, {"--width", {"3"}}}},
                                        {{"r", "-sh"}, {"r"}, {{"--short", {}}}},
                                        {{"r", "-sexp"}, {"r"}, {{"--smooth", {"exp"}}}},
                                        {{"r", "-pa"}, {"r"}, {{"--paired-ar", {}}}},
                                        {{"r", "-w", "1", "-w", "2"}, {"r"}, {{"--width", {"2"}}}},
                                        {{"-"}, {"-"}, {}},
                                        {{"a b", "-not an option"}, {"a b", "-not an option"}, {}}};
  for (const auto& [arguments, positionals, options] : cases) {
    const ParsedArguments parsed = parse_arguments(kOptions, arguments);
    EXPECT_EQ(parsed.positionals, positionals) << ::testing::PrintToString(arguments);
    EXPECT_EQ(parsed.options, options) << ::testing::PrintToString(arguments);
  }
}

TEST(ArgumentParser, StopsAtAnOptionThatEndsParsing) {
  EXPECT_EQ(parse_arguments(kOptions, {"--vers", "-m", "nothing"}).ended_by, "--version");
}

TEST(ArgumentParser, RefusesWhatArgparseRefuses) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"r", "-w"}, "argument --width/-w: expected one argument"},
      {{"r", "-m"}, "argument --metrics/-m: expected at least one argument"},
      {{"r", "-m", "ter"}, "argument --metrics/-m: invalid choice: 'ter' (choose from bleu, chrf)"},
      {{"-m", "bleu", "r"}, "argument --metrics/-m: invalid choice: 'r' (choose from bleu, chrf)"},
      {{"r", "--s", "x"}, "ambiguous option: --s could match --short, --smooth, --score-only"},
      {{"r", "-p"}, "ambiguous option: -p could match -par, -pbs"},
      {{"r", "--nothing"}, "unrecognized arguments: --nothing"},
      {{"r", "--metrisc", "bleu"}, "unrecognized arguments: --metrisc bleu; did you mean --metrics?"},
      {{"r", "-q", "r2"}, "unrecognized arguments: r2"},
      {{"r", "-zz", "--quiet"}, "unrecognized arguments: -zz"},
      {{"r", "--quiet=1"}, "argument --quiet/-q: ignored explicit argument '1'"},
      {{"r", "-qz"}, "argument --quiet/-q: ignored explicit argument 'z'"},
      {{"r", "-par", "-pbs"}, "argument --paired-bs/-pbs: not allowed with argument --paired-ar"},
      {{"r", "-pbs", "-par"}, "argument --paired-ar/-par: not allowed with argument --paired-bs"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(message_of<Error>([&, &words = arguments] { parse_arguments(kOptions, words); }), message)
        << ::testing::PrintToString(arguments);
  }
}

}  // namespace
}  // namespace nmt::scoring::argument_parser_test
