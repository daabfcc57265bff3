#include "base/error.h"
#include "scoring/command/score_arguments.h"
#include "support.h"

namespace nmt::scoring::score_parser_test {
namespace {

using nmt::test::message_of;
using Words = std::vector<std::string>;

TEST(ScoreParser, ReadsReferencesAndFiles) {
  const ScoreOptions options = parse_score_options({"r", "r2", "-i", "a", "b", "-m", "bleu", "chrf", "-q"});
  EXPECT_EQ(options.references, (Words{"r", "r2"}));
  EXPECT_EQ(options.systems, (Words{"a", "b"}));
  EXPECT_EQ(options.metrics, (Words{"bleu", "chrf"}));
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(parse_score_options({"-q", "r", "-i", "a"}).references, Words{"r"});
  EXPECT_EQ(parse_score_options({"-i", "a", "--", "-r", "-q"}).references, (Words{"-r", "-q"}));
  EXPECT_EQ(parse_score_options({"-"}).references, Words{"-"});
}

TEST(ScoreParser, ReadsValuesInEveryForm) {
  for (const Words& words : {Words{"-w", "4"},
                             {"-w4"},
                             {"-w=4"},
                             {"--width", "4"},
                             {"--width=4"},
                             {"-qbw4"},
                             {"-qbw=4"},
                             {"-w", "1", "-w", "4"}})
    EXPECT_EQ(parse_score_options(words).width, 4) << ::testing::PrintToString(words);
  EXPECT_EQ(parse_score_options({"-w", "-1"}).width, -1);
  EXPECT_EQ(parse_score_options({"-sv", "-.5"}).bleu.smoothing_value, -0.5);
  EXPECT_EQ(parse_score_options({"-sv", "1e1"}).bleu.smoothing_value, 10);
  EXPECT_EQ(parse_score_options({"-tok=zh"}).tokenizer, "zh");
  EXPECT_EQ(parse_score_options({"-sadd-k"}).bleu.smoothing, BleuSmoothing::kAddK);
  EXPECT_TRUE(parse_score_options({"-sh"}).short_signature);
  EXPECT_TRUE(parse_score_options({"-qb"}).score_only);
}

TEST(ScoreParser, HelpAndVersionEndReading) {
  EXPECT_TRUE(parse_score_options({"--help", "-m", "nothing"}).help);
  EXPECT_TRUE(parse_score_options({"-V", "--nothing"}).version);
}

TEST(ScoreParser, SaysWhatIsWrong) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"r", "-w"}, "-w: give it a value"},
      {{"r", "-m", "-q"}, "-m: give it a value"},
      {{"r", "-m", "meteor"},
       "-m meteor: unknown; choose from bleu, chrf, ter, aer, multi-bleu, multi-bleu-legacy, nltk"},
      {{"r", "--nothing"}, "--nothing: no such option; see --help"},
      {{"r", "--metrisc", "bleu"}, "--metrisc: no such option; did you mean --metrics?"},
      {{"r", "--wid", "4"}, "--wid: no such option; did you mean --width?"},
      {{"r", "-q", "r2"}, "r2: unexpected here; all references stand together, before -i"},
      {{"r", "-zz"}, "-zz: no such option; see --help"},
      {{"r", "-qz"}, "-z: no such option; see --help"},
      {{"r", "--quiet=1"}, "--quiet: is a flag; give it no value"},
      {{"r", "-w", "1_0"}, "-w 1_0: give a whole number of at most 1000"},
      {{"r", "-nr", "x"}, "-nr x: give a whole number"},
      {{"r", "-pbs", "--paired-ar"}, "--paired-ar: one of --paired-ar and --paired-bs, not both"}};
  for (const auto& [words, message] : cases)
    EXPECT_EQ(message_of<Error>([&, &words = words] { parse_score_options(words); }), message);
}

TEST(ScoreParser, StandInTheHelp) {
  const std::string help = score_help();
  EXPECT_NE(help.find("\n  -w, --width N "), std::string::npos);
  EXPECT_NE(help.find("-f, --format NAME             form of the output; default: json (json, text, latex)\n"),
            std::string::npos);
  EXPECT_EQ(help.find("\n  --echo"), std::string::npos);
}

}  // namespace
}  // namespace nmt::scoring::score_parser_test
