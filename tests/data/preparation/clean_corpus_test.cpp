#include "data/preparation/clean_corpus.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::clean_corpus_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::vector<CleaningRule> kRules = {
    CleaningRule::kLetters,     CleaningRule::kCopies,   CleaningRule::kNumbers,
    CleaningRule::kRepetitions, CleaningRule::kHeldOut,  CleaningRule::kAddresses,
    CleaningRule::kMarkup,      CleaningRule::kEndMarks, CleaningRule::kNearDuplicates};

class CleanCorpus : public test::PrepareFixture {
 protected:
  CleanCorpus() {
    for (const auto rule : kRules) config_.data.clean.append(name_of(rule));
    std::string text;
    for (int i = 0; i < 310; ++i) {  // the last ten are the validation set's
      text += line("de", i) + "\t" + line("en", i) + "\n";
      if (i % 100 == 50) text += line("en", i) + "\t" + line("en", i) + "\n";
      if (i % 100 == 60) text += "DIE zahl " + line("de", i).substr(9) + "!\t" + line("en", i) + "\n";
      if (i % 100 == 70) text += "Seite 3 davon\tPage 4 of it\n";
    }
    write("in.tsv", text);
  }

  PreprocessResult clean(const std::string& out = "out.tsv", Shard shard = {}) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    Logger logger("test", sink);
    return clean_corpus(config_, {.input = folder_ / "in.tsv", .output = folder_ / out, .shard = shard}, logger);
  }
  static std::string lines_of_pairs(int begin, int end) {
    std::string text;
    for (int i = begin; i < end; ++i) text += line("de", i) + "\t" + line("en", i) + "\n";
    return text;
  }
  std::string text_of(const std::string& name) const { return read_file(folder_ / name); }

  /// What `sort -m -n` makes of files with numbers at the lines' beginnings.
  static std::string merged(std::vector<std::string> parts, bool cut) {
    std::vector<std::pair<int, std::string>> lines;
    for (const auto& part : parts) {
      std::istringstream stream(part);
      int last = 0;
      for (std::string line; std::getline(stream, line);) {
        lines.emplace_back(std::stoi(line), cut ? line.substr(line.find('\t') + 1) : line);
        EXPECT_GT(lines.back().first, last) << "each part is in order";
        last = lines.back().first;
      }
    }
    std::ranges::sort(lines);
    std::string text;
    for (const auto& [number, line] : lines) text += line + "\n";
    return text;
  }
};

TEST_F(CleanCorpus, KeepsWhatItDoesNotDropAndSaysWhy) {
  const auto result = clean();
  std::string kept;
  for (int i = 0; i < 300; ++i) kept += line("de", i) + "\t" + line("en", i) + "\n";
  EXPECT_EQ(text_of("out.tsv"), kept);
  std::istringstream dropped(text_of("out.dropped.tsv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(dropped, line);) lines.push_back(line);
  ASSERT_THAT(lines, SizeIs(19));
  EXPECT_EQ(lines[0], "52\tin.tsv\tcopies\t1\t" + line("en", 50) + "\t" + line("en", 50));
  EXPECT_THAT(lines[1], HasSubstr("\tnear_duplicates\t1\tDIE zahl "));
  EXPECT_EQ(lines[2], "74\tin.tsv\tnumbers\t2\tSeite 3 davon\tPage 4 of it");
  EXPECT_THAT(lines[18], HasSubstr("\theld_out\t2\t"));
  EXPECT_THAT(result.table, HasSubstr("  held_out  near_duplicates"));
  EXPECT_THAT(result.table, testing::MatchesRegex("[^\n]*\nin.tsv +319 +300 +0 [^\n]*\n(.*\n)?"));
  const auto page = text_of("out.html");
  EXPECT_THAT(page, HasSubstr("300 of 319 pairs are kept"));
  EXPECT_THAT(page, HasSubstr("<section id=\"numbers\">\n<h2>numbers</h2>\n<p class=\"note\">3 of 3 pairs"));
  EXPECT_THAT(page, HasSubstr("<section id=\"kept\">\n<h2>kept</h2>\n<p class=\"note\">10 of 300 pairs"));
}

TEST_F(CleanCorpus, IsTheSameForAnyNumberOfThreads) {
  clean();
  const auto one = text_of("out.tsv") + text_of("out.dropped.tsv") + text_of("out.html");
  config_.run.threads = 1;
  clean();
  EXPECT_EQ(text_of("out.tsv") + text_of("out.dropped.tsv") + text_of("out.html"), one);
}

TEST_F(CleanCorpus, PartsTogetherAreTheWhole) {
  clean();
  for (const int64_t count : {2, 5}) {
    std::vector<std::string> kept, dropped;
    for (int64_t i = 1; i <= count; ++i) {
      clean("part.tsv", {.number = i, .count = count});
      kept.push_back(text_of("part.tsv"));
      dropped.push_back(text_of("part.dropped.tsv"));
      EXPECT_GT(kept.back().size(), 1000u) << "each has work";
    }
    EXPECT_EQ(merged(kept, true), text_of("out.tsv")) << count;
    EXPECT_EQ(merged(dropped, false), text_of("out.dropped.tsv")) << count;
  }
}

TEST_F(CleanCorpus, PartsNeedNoRule) {
  config_.data.clean = {};
  clean();
  std::vector<std::string> kept;
  for (const int64_t i : {1, 2, 3}) {
    clean("part.tsv", {.number = i, .count = 3});
    kept.push_back(text_of("part.tsv"));
  }
  EXPECT_EQ(merged(kept, true), text_of("out.tsv"));
}

TEST_F(CleanCorpus, TheRatioIsOfCharacters) {
  write("in.tsv", "Das ist ein langer Satz.\tThis\nKurz.\tShort.\n");
  config_.data.max_length_ratio = 3;
  clean();
  EXPECT_EQ(text_of("out.tsv"), "Kurz.\tShort.\n");
  EXPECT_EQ(text_of("out.dropped.tsv"), "1\tin.tsv\tlength_ratio\t6\tDas ist ein langer Satz.\tThis\n");
}

TEST_F(CleanCorpus, WarnsOfARuleThatDropsMuch) {
  const auto add = [&](int pairs, const std::string& source, const std::string& target) {
    std::string text;
    for (int i = 0; i < pairs; ++i) text += line("de", i) + " " + source + "\t" + line("en", i) + " " + target + "\n";
    return text;
  };
  const auto log_of = [&](const std::string& text) {
    log_.str("");
    write("in.tsv", text);
    clean();
    return log_.str();
  };
  const auto good = lines_of_pairs(0, 79);
  EXPECT_THAT(
      log_of(good + add(21, "das geht", "it &apos;s so")),
      HasSubstr("in.tsv: the rule markup drops 21 % of the pairs; most have &apos; or &quot;, as Moses tokens"));
  EXPECT_THAT(log_of(good + add(21, "<b>so</b>", "<b>so</b>")),
              HasSubstr("in.tsv: the rule markup drops 21 % of the pairs; look at them in out.dropped.tsv"));
  EXPECT_THAT(log_of(good + add(21, "das 1", "it 2")), HasSubstr("the rule numbers drops 21 %"));
  EXPECT_THAT(log_of(good + lines_of_pairs(200, 201) + add(20, "das 1", "it 2")), Not(HasSubstr("drops")));
  EXPECT_THAT(log_of(lines_of_pairs(0, 50) + add(49, "das 1", "it 2")), Not(HasSubstr("drops"))) << "99 pairs";
}

TEST_F(CleanCorpus, PreparationWarnsOfTheCorpus) {
  const auto moses = [](int end) {
    std::string text;
    for (int i = 0; i < end; ++i) text += line("de", i) + " &quot;\t" + line("en", i) + " &quot;\n";
    return text;
  };
  write("b.tsv", lines_of_pairs(0, 150) + moses(150));
  write("c.tsv", lines_of_pairs(150, 290) + "Seite 3 davon\tPage 4 of it\n");
  config_.data.train_tsv = {path("b.tsv"), path("c.tsv")};
  config_.data.clean = {};
  config_.data.clean.append("markup");
  prepare();
  EXPECT_THAT(log_.str(), HasSubstr("b.tsv: the rule markup drops 50 % of the pairs; most have"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("c.tsv: the rule")));
}

TEST_F(CleanCorpus, NeverReplacesItsInput) {
  const auto before = text_of("in.tsv");
  EXPECT_THAT(message_of<Error>([&] { clean("in.tsv"); }), HasSubstr("is the input, which is never replaced"));
  EXPECT_EQ(text_of("in.tsv"), before);
}

TEST_F(CleanCorpus, ABadLineLeavesNothingBehind) {
  write("in.tsv", "eins\tone\nzwei\n");
  EXPECT_THAT(message_of<Error>([&] { clean(); }), HasSubstr("in.tsv:2: no tab"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().filename().string(), Not(testing::StartsWith("out.")));
}

TEST_F(CleanCorpus, PreparedDataAreCleanedByTheSameRules) {
  clean();
  config_.data.train1.clear(), config_.data.train2.clear();
  config_.data.train_tsv = {path("in.tsv")};
  const auto result = prepare();
  EXPECT_EQ(output().at("prepared/dropped.tsv"), text_of("out.dropped.tsv"));
  EXPECT_TRUE(output().contains("prepared/cleaning.html"));
  EXPECT_EQ(open_prepared_data(config_).train->size(), 300);
  const auto again = prepare();
  EXPECT_EQ(again.outcome, PrepareOutcome::kUpToDate);
  EXPECT_EQ(again.table, result.table);
  config_.data.clean.clear();
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_FALSE(output().contains("prepared/dropped.tsv"));
  EXPECT_EQ(open_prepared_data(config_).train->size(), 319);
}

}  // namespace
}  // namespace nmt::clean_corpus_test
