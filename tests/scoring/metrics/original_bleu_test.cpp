// Figures of original_bleu_golden.py, beside this file.
#include "scoring/metrics/original_bleu.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "scoring/command/score_command.h"
#include "scoring/corpus/corpus_score.h"
#include "support.h"

namespace nmt::scoring::original_bleu_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const std::vector<std::string> kHypotheses = {
    "the little dog ran over the green field", "a man in a blue shirt is standing on a ladder",
    "two  young people   walk", "yes", "this is an odd sentence with one more word too few?"};
const std::vector<std::string> kReferences = {"the little dog runs over the green field",
                                              "a man in a blue shirt stands on a ladder", "two young  people walk",
                                              "yes of course", "this is an odd sentence with one word too few."};
const std::vector<std::string> kSecond = {"a little dog ran over a green field",
                                          "the man in the blue shirt is on a ladder today", "two people walk", "yes",
                                          "an odd sentence is this"};

std::string line_of(OriginalForm form, const References& references) {
  return score_corpus(OriginalBleu(form), kHypotheses, references).format();
}

TEST(OriginalBleu, PrintsTheLineOfMultiBleu) {
  EXPECT_EQ(line_of(OriginalForm::kMultiBleu, {kReferences}),
            "BLEU = 62.06, 85.7/73.3/57.7/40.9 (BP=1.000, ratio=1.000, hyp_len=35, ref_len=35)");
  EXPECT_EQ(line_of(OriginalForm::kMultiBleu, {kReferences, kSecond}),
            "BLEU = 69.98, 91.4/83.3/69.2/45.5 (BP=1.000, ratio=1.029, hyp_len=35, ref_len=34)");
}

TEST(OriginalBleu, TheLegacyFormSplitsReferencesAtSingleSpaces) {
  EXPECT_EQ(line_of(OriginalForm::kMultiBleuLegacy, {kReferences}),
            "BLEU = 55.85, 85.7/70.0/50.0/36.4 (BP=0.972, ration=0.972)");
}

TEST(OriginalBleu, GivesTheFigureOfNltkToTheLastDigit) {
  EXPECT_EQ(line_of(OriginalForm::kNltk, {kReferences}), "Bleu Score = 60.30302403897792");
  EXPECT_EQ(line_of(OriginalForm::kNltk, {kReferences, kSecond}), "Bleu Score = 67.99238704245376");
}

TEST(OriginalBleu, OfTwoReferencesAsCloseTheLegacyFormTakesTheFirst) {
  const std::vector<std::string> hypothesis = {"a b c d"}, longer = {"a b c d e"}, shorter = {"a b c"};
  const auto line = [&](OriginalForm form, const References& references) {
    return score_corpus(OriginalBleu(form), hypothesis, references).format();
  };
  EXPECT_EQ(line(OriginalForm::kMultiBleuLegacy, {longer, shorter}),
            "BLEU = 77.88, 100.0/100.0/100.0/100.0 (BP=0.779, ration=0.800)");
  EXPECT_EQ(line(OriginalForm::kMultiBleuLegacy, {shorter, longer}),
            "BLEU = 100.00, 100.0/100.0/100.0/100.0 (BP=1.000, ration=1.333)");
  for (const References& references : {References{longer, shorter}, References{shorter, longer}}) {
    EXPECT_EQ(line(OriginalForm::kMultiBleu, references),
              "BLEU = 100.00, 100.0/100.0/100.0/100.0 (BP=1.000, ratio=1.333, hyp_len=4, ref_len=3)");
    EXPECT_EQ(line(OriginalForm::kNltk, references), "Bleu Score = 100.0");
  }
}

TEST(OriginalBleu, PrintsAsTheProgramsDoWithoutAMatchOfSomeOrder) {
  const std::vector<std::string> hypothesis = {"a b c x"}, reference = {"a b c d e"};
  EXPECT_EQ(score_corpus(OriginalBleu(OriginalForm::kMultiBleu), hypothesis, References{reference}).format(),
            "BLEU = 0.00, 75.0/66.7/50.0/0.0 (BP=0.779, ratio=0.800, hyp_len=4, ref_len=5)");
  for (const auto& [text, figure] :
       std::vector<std::pair<std::string, std::string>>{{"a b c x e", "7.380245217279165e-76"},
                                                        {"a b c x", "6.725854833444236e-76"},
                                                        {"a", "3.336801683462506e-231"},
                                                        {"x", "0"},
                                                        {"", "0"}}) {
    EXPECT_EQ(score_corpus(OriginalBleu(OriginalForm::kNltk), std::vector{text}, References{reference}).format(),
              "Bleu Score = " + figure)
        << text;
  }
  const std::vector<std::string> empty = {""};
  for (const auto form : {OriginalForm::kMultiBleu, OriginalForm::kMultiBleuLegacy, OriginalForm::kNltk}) {
    EXPECT_EQ(score_corpus(OriginalBleu(form), empty, References{reference}).score, 0);
    EXPECT_EQ(score_corpus(OriginalBleu(form), hypothesis, References{empty}).score, 0);
    EXPECT_EQ(score_corpus(OriginalBleu(form), empty, References{empty}).score, 0);
  }
}

TEST(OriginalBleu, PrintsTheFixedLineOfMultiBleuWithoutReferenceWords) {
  const Score score = score_corpus(OriginalBleu(OriginalForm::kMultiBleu), std::vector<std::string>{"a b c x"},
                                   References{std::vector<std::string>{""}});
  EXPECT_EQ(score.format(), "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)");
  EXPECT_EQ(score.format({.score_only = true}), "0");
  EXPECT_EQ(score.score, 0);
}

TEST(OriginalBleu, RemovesOneLastCharacter) {
  EXPECT_EQ(without_last_character("few."), "few");
  EXPECT_EQ(without_last_character("gr\u00FC\u00DF\u00FC"), "gr\u00FC\u00DF");
  EXPECT_EQ(without_last_character(""), "");
}

struct Result {
  int exit_code;
  std::string out, messages;
};

class OriginalBleuCommand : public testing::Test {
 protected:
  OriginalBleuCommand() {
    write("hyp", kHypotheses, "\n");
    write("ref", kReferences, "\n");
    write("second", kSecond, "\n");
    write("hyp_unended", kHypotheses, "");
    write("ref_unended", kReferences, "");
  }
  void write(const std::string& name, const std::vector<std::string>& lines, const std::string& end) {
    std::ofstream file(folder_ / name, std::ios::binary);
    for (size_t i = 0; i < lines.size(); ++i) file << (i > 0 ? "\n" : "") << lines[i];
    file << end;
  }
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

TEST_F(OriginalBleuCommand, PrintsWhatTheProgramsPrint) {
  EXPECT_EQ(run("@ref @second -i @hyp -m multi-bleu -f text").out,
            "BLEU = 69.98, 91.4/83.3/69.2/45.5 (BP=1.000, ratio=1.029, hyp_len=35, ref_len=34)\n");
  EXPECT_EQ(run("@ref -i @hyp -m nltk -b").out, "60.30302403897792\n");
  EXPECT_EQ(run("@ref -i @hyp -m multi-bleu").out,
            "{\n \"name\": \"multi-bleu\",\n \"score\": 62.06,\n \"verbose_score\": \"85.7/73.3/57.7/40.9 (BP=1.000, "
            "ratio=1.000, hyp_len=35, ref_len=35)\"\n}\n");
  EXPECT_THAT(run("@ref -i @hyp -m nltk bleu -f text").out,
              testing::AllOf(HasSubstr("BLEU|nrefs:1|"), HasSubstr("Bleu Score = 60.30302403897792\n")));
}

TEST_F(OriginalBleuCommand, TheLegacyFormCutsAnUnendedLastLineOnly) {
  EXPECT_EQ(run("@ref -i @hyp -m multi-bleu-legacy -f text").out,
            "BLEU = 55.85, 85.7/70.0/50.0/36.4 (BP=0.972, ration=0.972)\n");
  EXPECT_EQ(run("@ref_unended -i @hyp_unended -m multi-bleu-legacy -f text").out,
            "BLEU = 58.04, 88.6/73.3/53.8/36.4 (BP=0.972, ration=0.972)\n");
  EXPECT_EQ(run("@ref_unended -i @hyp_unended -m multi-bleu-legacy -f text -e latin-1").out,
            "BLEU = 58.04, 88.6/73.3/53.8/36.4 (BP=0.972, ration=0.972)\n");
  EXPECT_EQ(run("@ref_unended -i @hyp_unended -m multi-bleu").out, run("@ref -i @hyp -m multi-bleu").out);
}

TEST_F(OriginalBleuCommand, SeesLineEndsAsPerlDoes) {
  write("ends_hyp", {"we leave now today\u3000", "see you soon friend\r"}, "\n");
  write("ends_ref", {"we leave now today\r", "see you soon friend \t"}, "\n");
  const std::string line = "BLEU = 72.31, 87.5/83.3/75.0/50.0 (BP=1.000, ratio=1.000, hyp_len=8, ref_len=8)\n";
  EXPECT_EQ(run("@ends_ref -i @ends_hyp -m multi-bleu -f text").out, line);
  EXPECT_EQ(run("@ends_ref -i @ends_hyp -m multi-bleu-legacy -f text").out,
            "BLEU = 63.82, 87.5/83.3/75.0/50.0 (BP=0.882, ration=0.889)\n");
  // The lines of sacreBLEU's metrics stay without them, alone and beside multi-bleu.
  const std::string options = "@ends_ref -i @ends_hyp --chrf-whitespace -f text -m ";
  const std::string chrf = run(options + "chrf").out;
  EXPECT_THAT(chrf, EndsWith(" = 100.0\n"));
  EXPECT_THAT(run(options + "chrf multi-bleu").out, testing::AllOf(HasSubstr(chrf), HasSubstr(line)));
  // With -nr lines lose them.
  write("fields", {"we leave now today\tx\u3000", "see you soon friend\tx"}, "\n");
  EXPECT_THAT(run("@fields -nr 2 -i @ends_hyp -m multi-bleu -f text").out, HasSubstr("BLEU = 100.00"));
}

TEST_F(OriginalBleuCommand, LeavesShortPairsOut) {
  EXPECT_EQ(run("@ref -i @hyp -m nltk -f text --min-len 4").out, "Bleu Score = 61.98542191654896\n");
  write("long_hyp", {kHypotheses[0], kHypotheses[1], kHypotheses[2], kHypotheses[4]}, "\n");
  write("long_ref", {kReferences[0], kReferences[1], kReferences[2], kReferences[4]}, "\n");
  EXPECT_EQ(run("@ref -i @hyp -m bleu chrf --min-len 4").out, run("@long_ref -i @long_hyp -m bleu chrf").out);
  const Result none = run("@ref -i @hyp --min-len 40");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.messages, EndsWith("--min-len 40: no pair has so many words on both sides\n"));
}

TEST_F(OriginalBleuCommand, LeavesLongPairsOut) {
  EXPECT_EQ(run("@ref -i @hyp -m nltk -f text --max-len 9").out, "Bleu Score = 48.98737021116094\n");
  write("short_hyp", {kHypotheses[0], kHypotheses[2], kHypotheses[3]}, "\n");
  write("short_ref", {kReferences[0], kReferences[2], kReferences[3]}, "\n");
  EXPECT_EQ(run("@ref -i @hyp -m bleu chrf --max-len 9").out, run("@short_ref -i @short_hyp -m bleu chrf").out);
  const Result none = run("@ref -i @hyp --min-len 9 --max-len 9");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.messages, EndsWith("--max-len 9: no pair has 9 to 9 words on both sides\n"));
}

TEST_F(OriginalBleuCommand, TabulatesScoresByLength) {
  EXPECT_THAT(run("@ref -i @hyp -m multi-bleu nltk --length-analysis 5").out,
              testing::AllOf(HasSubstr("BLEU = 62.06, "),
                             EndsWith("\nlength           segments          multi-bleu                nltk\n"
                                      "0-4                     2               67.03  47.398785011707936\n"
                                      "5-9                     1               50.00                50.0\n"
                                      "10-14                   2               61.08   61.08201483434533\n")));
}

TEST_F(OriginalBleuCommand, KeepsTheColumnsOfATableApart) {
  write("few", {"a b c x e"}, "\n");
  write("five", {"a b c d e"}, "\n");
  EXPECT_THAT(run("@five -i @few -m nltk --length-analysis 10").out,
              EndsWith("\n0-9                     1 7.380245217279165e-76\n"));
}

TEST_F(OriginalBleuCommand, RefusesWhatDoesNotGoTogether) {
  for (const auto& [command, message] : std::vector<std::pair<std::string, std::string>>{
           {"@ref -i @hyp -m multi-bleu-legacy bleu", "-m multi-bleu-legacy: reads the text otherwise; name it alone"},
           {"@ref -i @hyp @ref -m nltk", "-m nltk: for one system, without -sl and -ci"},
           {"@ref -i @hyp -m multi-bleu -sl", "-m multi-bleu: for one system, without -sl and -ci"},
           {"@ref -i @hyp -m multi-bleu -ci", "-m multi-bleu: for one system, without -sl and -ci"},
           {"@ref -i @hyp @ref --min-len 4", "--min-len: for one system, without -sl and -ci"},
           {"@ref -i @hyp -sl --length-analysis 4", "--length-analysis: for one system, without -sl and -ci"},
           {"@ref -i @hyp --min-len -1", "--min-len -1: 0 or more words"},
           {"@ref -i @hyp @ref --max-len 4", "--max-len: for one system, without -sl and -ci"},
           {"@ref -i @hyp --max-len 0", "--max-len 0: 1 or more words"},
           {"@ref -i @hyp --min-len 5 --max-len 0", "--max-len 0: 1 or more words"},
           {"@ref -i @hyp --min-len 5 --max-len 4", "--max-len 4: less than --min-len 5"},
           {"@ref -i @hyp --length-analysis 0", "--length-analysis 0: 1 or more"},
           {"@ref -i @hyp --length-analysis -3", "--length-analysis -3: 1 or more"}}) {
    const Result result = run(command);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_EQ(result.messages, "nmt-score: " + message + "\n") << command;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace nmt::scoring::original_bleu_test
