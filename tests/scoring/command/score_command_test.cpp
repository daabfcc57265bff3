#include "scoring/command/score_command.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/files/line_reader.h"
#include "scoring/command/results_table.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/ter.h"
#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::score_command_test {
namespace {

using namespace test;

struct Result {
  int exit_code;
  std::string out, messages;
};

class ScoreCommandTest : public ::testing::Test {
 protected:
  ScoreCommandTest() {
    write("ref1", kThreeReferences[0]);
    write("ref2", kThreeReferences[1]);
    write("hyp", kThreeHypotheses);
    write("other", kOtherHypotheses);
  }

  void write(const std::string& name, const std::vector<std::string>& lines) {
    std::ofstream file(folder_ / name, std::ios::binary);
    for (const std::string& line : lines) file << line << '\n';
  }

  /// Words that begin with @ are files of the folder.
  Result run(const std::string& command) const {
    std::istringstream words(command);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
      arguments.push_back(word[0] == '@' ? (folder_ / word.substr(1)).string() : word);
    }
    std::ostringstream out, messages;
    const int exit_code = run_score_command(arguments, {.out = out, .messages = messages});
    return {exit_code, out.str(), messages.str()};
  }

  nmt::test::TemporaryDirectory folder_;
};

TEST_F(ScoreCommandTest, RefusesANumberOfThreadsThatNoMachineHas) {
  for (const std::string threads : {"-7", "20000"}) {
    const Result result = run("@ref1 @ref2 -i @hyp --threads " + threads);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.messages, "nmt-score: --threads " + threads + ": use 1 to 1024, or 0 for all processors\n");
  }
}

TEST_F(ScoreCommandTest, PrintsJsonByDefault) {
  const Result result = run("@ref1 @ref2 -i @hyp");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "{\n"
            " \"name\": \"BLEU\",\n"
            " \"score\": 48.5,\n"
            " \"signature\": \"nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0\",\n"
            " \"verbose_score\": \"82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)\",\n"
            " \"nrefs\": \"2\",\n"
            " \"case\": \"mixed\",\n"
            " \"eff\": \"no\",\n"
            " \"tok\": \"13a\",\n"
            " \"smooth\": \"exp\",\n"
            " \"version\": \"2.6.0\"\n"
            "}\n");
  EXPECT_EQ(result.messages, "");
}

TEST_F(ScoreCommandTest, AlignsSeveralMetrics) {
  EXPECT_EQ(
      run("@ref1 @ref2 -i @hyp -m ter bleu chrf -f text").out,
      "        BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 48.5 82.4/50.0/45.5/37.5 (BP = 0.943 "
      "ratio = "
      "0.944 hyp_len = 17 ref_len = 18)\n"
      "      chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 59.7\n"
      "TER|nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0 = 40.0\n");
  EXPECT_EQ(run("@ref1 @ref2 -i @hyp -m bleu chrf ter -b -w 4").out, "[\n48.5308,\n59.7275,\n40.0000\n]\n");
}

TEST_F(ScoreCommandTest, PrintsTheFigureOfTheLibrary) {
  // nmt-eval and the validation of training print Score::format of these classes.
  const Score bleu = score_corpus(Bleu(), kThreeHypotheses, kThreeReferences);
  const Score chrf = score_corpus(Chrf({.word_order = 2}), kThreeHypotheses, kThreeReferences, {.bootstrap = 1000});
  const Score ter = score_corpus(Ter(), kThreeHypotheses, kThreeReferences);
  EXPECT_EQ(run("@ref1 @ref2 -i @hyp -f text -w 6").out, bleu.format({.width = 6}) + "\n");
  EXPECT_EQ(run("@ref1 @ref2 -i @hyp -f text -w 6 -m chrf -cw 2 -ci").out, chrf.format({.width = 6}) + "\n");
  EXPECT_EQ(run("@ref1 @ref2 -i @hyp -w 6 -m ter").out, ter.format_json({.width = 6}) + "\n");
  const std::vector<NamedSystem> systems = {{"Baseline: " + (folder_ / "hyp").string(), kThreeHypotheses},
                                            {(folder_ / "other").string(), kOtherHypotheses}};
  const std::vector<std::shared_ptr<const Metric>> metrics = {std::make_shared<Bleu>(), std::make_shared<Ter>()};
  EXPECT_EQ(run("@ref1 @ref2 -i @hyp @other -m bleu ter -pbs -f text").out,
            format_results(paired_test(systems, kThreeReferences, metrics), {.width = 1}));
}

TEST_F(ScoreCommandTest, ScoresSentences) {
  const Result result = run("@ref1 @ref2 -i @hyp -sl -b -w 2 -m ter");
  EXPECT_EQ(result.out, "0.00\n75.00\n54.55\n");
  const Result bleu = run("@ref1 @ref2 -i @hyp -sl -sh");
  EXPECT_EQ(
      bleu.out.substr(0, bleu.out.find('\n')),
      "BLEU|#:2|c:mixed|e:yes|tok:13a|s:exp|v:2.6.0 = 100.0 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len "
      "= 6 ref_len = 6)");
}

TEST_F(ScoreCommandTest, DoesNotPrintBeforeEverythingIsRead) {
  write("short", {"a"});
  EXPECT_EQ(run("@ref1 -i @short -sl").out, "");
}

TEST_F(ScoreCommandTest, EndsWithTheCodesOfSacrebleu) {
  struct Case {
    std::string command;
    int exit_code;
    std::string message;
  };
  for (const auto& [command, exit_code, message] :
       {Case{"", 1, "no references; name their files before -i"},
        Case{"@ref1 -i @hyp @hyp", 1, "-i: '" + (folder_ / "hyp").string() + "' is named twice"},
        Case{"@ref1 -i @hyp -pbs", 1, "paired tests need several systems (-i)"},
        Case{"@ref1 -i @hyp @other -ci", 1, "--confidence: one system only; use --paired-bs"},
        Case{"@ref1 -i @hyp @other -sl", 1, "-sl: one system only"},
        Case{"@ref1 -i @hyp -sl -m bleu ter", 1, "-sl: one metric only (-m)"},
        Case{"@ref1 -i @hyp -sl -ci", 1, "-sl: not with statistical tests"},
        Case{"@ref1 @ref2 -nr 2 -i @hyp", 1,
             "-nr: works with one reference file, whose lines hold the references separated by tabs"},
        Case{"@ref1 -nr 2 -i @hyp", 17,
             (folder_ / "ref1").string() + ":1: expected 2 tab-separated fields, but found 1"},
        Case{"@ref1 -i @hyp -l en", 1, "-l en: write source and target, as in en-de"},
        Case{"@ref1 -i @hyp -w -1", 1, "-w -1: the number of digits after the point cannot be negative"},
        Case{"@ref1 -i @hyp -w x", 2, "-w x: give a whole number of at most 1000"},
        Case{"@ref1 -i @hyp -w 1001", 2, "-w 1001: give a whole number of at most 1000"},
        Case{"@ref1 -i @hyp -sv x", 2, "-sv x: give a number of at most 1e+30"},
        Case{"@ref1 -i @hyp -s floor -sv inf -ci", 2, "-sv inf: give a number of at most 1e+30"},
        Case{"@ref1 -i @hyp -s add-k -sv nan", 2, "-sv nan: give a number of at most 1e+30"},
        Case{"@ref1 -i @hyp -s add-k -sv 1e31", 2, "-sv 1e31: give a number of at most 1e+30"},
        Case{"@ref1 -i @hyp -m chrf -cc 1001", 2, "-cc 1001: give a whole number of at most 1000"},
        Case{"@ref1 -i @hyp -m chrf -cw 100000000", 2, "-cw 100000000: give a whole number of at most 1000"},
        Case{"@ref1 -i @hyp -tok moses", 2,
             "-tok moses: unknown; choose from none, zh, 13a, intl, char, ja-mecab, ko-mecab, spm, flores101, "
             "flores200, "
             "spBLEU-1K"},
        Case{"@ref1 -i @hyp -s add-k -sv -7.5", 1,
             "-sv -7.5: makes a precision negative; choose a larger smoothing value"},
        Case{"@ref1 -i @hyp -m multi-bleu -lc", 1, "-lc: not for -m multi-bleu, which takes the text as it is"},
        Case{"@ref1 -i @hyp -m nltk multi-bleu -tok none", 1, "-tok: not for -m nltk, which takes the text as it is"},
        Case{"@ref1 -i @hyp -m nltk -s floor", 1, "-s: not for -m nltk, which takes the text as it is"},
        Case{"@ref1 -i @hyp -m nltk -sv 1", 1, "-sv: not for -m nltk, which takes the text as it is"},
        Case{"@ref1 -i @hyp -m chrf -cc 0", 1, "chrF needs n-grams of some order; raise -cc or -cw"}}) {
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, exit_code) << command;
    EXPECT_EQ(result.messages, "nmt-score: " + message + "\n") << command;
    EXPECT_EQ(result.out, "") << command;
  }
}

TEST_F(ScoreCommandTest, TakesTheLargestOrdersDigitsAndSmoothing) {
  EXPECT_EQ(run("@ref1 -i @ref1 -b -m ter -w 1000").out, "0." + std::string(1000, '0') + "\n");
  EXPECT_EQ(run("@ref1 -i @ref1 -b -m chrf -cc 1000 -cw 1000").out, "100.0\n");
  for (const std::string smoothing : {"floor -sv 1e30", "add-k -sv 1e30", "add-k --smooth-value=-1e30"}) {
    const Result result = run("@ref1 -i @hyp -ci -cin 50 -s " + smoothing);
    EXPECT_EQ(result.exit_code, 0) << smoothing;
    EXPECT_EQ(result.out.find("nan"), std::string::npos) << smoothing;
    EXPECT_EQ(result.out.find("inf"), std::string::npos) << smoothing;
  }
}

TEST_F(ScoreCommandTest, NamesTheWayToTestSets) {
  for (const std::string command : {"-t wmt17 -l en-de -i @hyp", "--list", "--download wmt17", "--citation -t wmt17",
                                    "@ref1 -i @hyp --origlang de", "@ref1 -i @hyp --subset news", "@ref1 --echo src"}) {
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_EQ(
        result.messages,
        "nmt-score: test sets by name are not part of nmt-score; get the files with sacreBLEU (sacrebleu -t SET -l "
        "SRC-TGT --echo ref > reference) and name them\n")
        << command;
  }
}

TEST_F(ScoreCommandTest, WarnsOfTokenizedText) {
  write("tokenized", std::vector<std::string>(100, "a ."));
  const Result result = run("@tokenized -i @tokenized");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.messages.find("100 lines end in ' .': detokenize them"), std::string::npos);
  EXPECT_EQ(run("@tokenized -i @tokenized --force").messages, "");
  EXPECT_EQ(run("@tokenized -i @tokenized -m chrf").messages, "");
}

TEST_F(ScoreCommandTest, TakesTheFormatFromTheEnvironment) {
  setenv("SACREBLEU_FORMAT", "TEXT", 1);
  EXPECT_EQ(run("@ref1 -i @ref1 -b -f json").out, "100.0\n");
  EXPECT_EQ(run("@ref1 -i @hyp -f json").out.substr(0, 5), "BLEU|");
  setenv("SACREBLEU_FORMAT", "nonsense", 1);
  EXPECT_EQ(run("@ref1 -i @hyp -f json").out.substr(0, 1), "{");
  unsetenv("SACREBLEU_FORMAT");
}

TEST_F(ScoreCommandTest, NamesItselfInItsVersion) {
  EXPECT_EQ(run("--version").out.substr(0, 10), "nmt-score ");
  EXPECT_NE(run("-V").out.find("sacreBLEU 2.6.0"), std::string::npos);
  EXPECT_NE(run("-h").out.find("usage: nmt-score"), std::string::npos);
}

/// newstest2017 English-German: the reference and two systems, 3,004 lines.
class Newstest2017 : public ::testing::Test {
 protected:
  static std::vector<std::string> lines_of(const std::string& name) {
    const auto folder = nmt::test::shared_directory();
    const auto path = folder / "data/wmt17_en_de" / name;
    if (folder.empty() || !std::filesystem::exists(path)) return {};
    LineReader reader(path);
    std::vector<std::string> lines;
    while (const auto line = reader.next()) lines.emplace_back(*line);
    return lines;
  }
  void SetUp() override {
    references_ = {lines_of("reference.de.gz")};
    lium_ = lines_of("LIUM-NMT.de.gz");
    kit_ = lines_of("KIT.de.gz");
    if (references_[0].empty() || lium_.empty() || kit_.empty()) GTEST_SKIP() << "set NMT_SHARED: no newstest2017 here";
  }
  References references_;
  std::vector<std::string> lium_, kit_;
};

TEST_F(Newstest2017, BleuEqualsSacrebleu) {
  const Score score = score_corpus(Bleu(), lium_, references_, {.bootstrap = 1000});
  EXPECT_NEAR(score.score, 26.59580468309487, kPointTolerance);
  EXPECT_EQ(score.correct, (std::vector<double>{36804, 19234, 11381, 6976}));
  EXPECT_EQ(score.total, (std::vector<double>{62496, 59492, 56488, 53485}));
  EXPECT_EQ(score.reference_length, 61287);
  EXPECT_NEAR(score.confidence->mean, 26.599396007541003, kResampleTolerance);
  EXPECT_NEAR(score.confidence->half_width, 0.6482889830520513, kResampleTolerance);
  EXPECT_NEAR(score_corpus(Bleu(), kit_, references_).score, 26.076033504662192, kPointTolerance);
  for (const auto& [options, expected] :
       {std::pair(BleuOptions{.tokenizer = "none"}, 21.609767939750313),
        std::pair(BleuOptions{.tokenizer = "intl"}, 26.893513883179022),
        std::pair(BleuOptions{.tokenizer = "char"}, 62.02304446884941),
        std::pair(BleuOptions{.tokenizer = "zh"}, 26.584339612241152),
        std::pair(BleuOptions{.lowercase = true}, 27.152954808195517),
        std::pair(BleuOptions{.smoothing = BleuSmoothing::kAddK}, 26.597333865676138)}) {
    EXPECT_NEAR(score_corpus(Bleu(options), lium_, references_).score, expected, kPointTolerance) << options.tokenizer;
  }
}

TEST_F(Newstest2017, ChrfEqualsSacrebleu) {
  for (const auto& [options, expected] :
       {std::pair(ChrfOptions{}, 55.92837490341378), std::pair(ChrfOptions{.word_order = 1}, 56.28950793148413),
        std::pair(ChrfOptions{.word_order = 2}, 53.235619159464655),
        std::pair(ChrfOptions{.word_order = 2, .eps_smoothing = true}, 53.233223869981614),
        std::pair(ChrfOptions{.lowercase = true}, 57.06204569482275),
        std::pair(ChrfOptions{.whitespace = true}, 60.066687778562155),
        std::pair(ChrfOptions{.beta = 3}, 55.82306847386418)}) {
    EXPECT_NEAR(score_corpus(Chrf(options), lium_, references_).score, expected, kPointTolerance);
  }
  const Score score = score_corpus(Chrf(), lium_, references_, {.bootstrap = 1000});
  EXPECT_NEAR(score.confidence->mean, 55.93055, kResampleTolerance);
  EXPECT_NEAR(score.confidence->half_width, 0.47041893, kResampleTolerance);
}

TEST_F(Newstest2017, TerEqualsSacrebleu) {
  const Score score = score_corpus(Ter(), lium_, references_);
  EXPECT_NEAR(score.score, 63.25213408286488, kPointTolerance);
  EXPECT_EQ(score.edits, 33418);
  EXPECT_EQ(score.reference_words, 52833);
  const Score normalized = score_corpus(Ter({.normalized = true}), lium_, references_);
  EXPECT_NEAR(normalized.score, 55.03083096799452, kPointTolerance);
  EXPECT_EQ(normalized.edits, 33735);
  EXPECT_EQ(normalized.reference_words, 61302);
}

TEST_F(Newstest2017, PairedTestsEqualSacrebleu) {
  const std::vector<NamedSystem> systems = {{"LIUM", lium_}, {"KIT", kit_}};
  const std::vector<std::shared_ptr<const Metric>> metrics = {std::make_shared<Bleu>(), std::make_shared<Chrf>()};
  const PairedTable bootstrap = paired_test(systems, references_, metrics);
  EXPECT_NEAR(*bootstrap.columns[0].results[1].p_value, 0.011988011988011988, 1e-15);
  EXPECT_NEAR(*bootstrap.columns[1].results[1].p_value, 0.11388611388611389, 1e-15);
  const PairedTable randomization =
      paired_test(systems, references_, metrics, {.kind = PairedTestKind::kApproximateRandomization});
  EXPECT_NEAR(*randomization.columns[0].results[1].p_value, 0.0192980701929807, 1e-15);
  EXPECT_NEAR(*randomization.columns[1].results[1].p_value, 0.25107489251074894, 1e-15);
}

}  // namespace
}  // namespace nmt::scoring::score_command_test
