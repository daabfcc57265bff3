#include "data/preparation/preprocess.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "data/preparation/input_files.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::preprocess_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::StartsWith;

class Prepare : public test::PrepareFixture {
 protected:
  std::string message() {
    return message_of<Error>([&] { prepare(); });
  }
  nlohmann::json manifest() const { return nlohmann::json::parse(output().at("prepared/manifest.json")); }
};

TEST_F(Prepare, WritesWhatTrainingOpens) {
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kWritten);
  EXPECT_THAT(output(), ElementsAre(Key("prepared/manifest.json"), Key("prepared/spm.model"), Key("prepared/spm.vocab"),
                                    Key("prepared/test.bin"), Key("prepared/train.bin"), Key("prepared/valid.bin")));
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(data.train->size(), 300);
  ASSERT_EQ(data.valid->size(), 20);
  ASSERT_EQ(data.test->size(), 30);
  EXPECT_EQ(data.codec.source().size(), 150);
  EXPECT_TRUE(data.codec.joint());
  for (const int i : {0, 17, 299}) {
    EXPECT_EQ(data.train->source_text(i), line("de", i));
    EXPECT_EQ(data.train->target_text(i), line("en", i));
    EXPECT_EQ(data.codec.decode_target(data.train->target(i)), line("en", i));
    const auto ids = data.codec.encode_source(line("de", i));
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), data.train->source(i).begin(), data.train->source(i).end()));
  }
  EXPECT_EQ(data.valid->target_text(3), line("en", 303));
  EXPECT_EQ(data.test->source_text(29), line("de", 349));
}

TEST_F(Prepare, ValidationAndTestMayBeAbsent) {
  config_.data.eval1 = config_.data.eval2 = config_.data.test1 = config_.data.test2 = "";
  prepare();
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(data.valid, nullptr);
  EXPECT_EQ(data.test, nullptr);
}

TEST_F(Prepare, SeveralValidationAndTestSetsHaveASplitEach) {
  prepare();
  const auto single = output();
  config_.data.eval = {{"first", config_.data.eval1, config_.data.eval2}, {"second", path("test.de"), path("test.en")}};
  config_.data.eval1.clear(), config_.data.eval2.clear();
  config_.data.test = {{"only", config_.data.test1, config_.data.test2}};
  config_.data.test1.clear(), config_.data.test2.clear();
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  const auto files = output();
  EXPECT_EQ(files.at("prepared/valid.bin"), single.at("prepared/valid.bin"));
  EXPECT_EQ(files.at("prepared/test.bin"), single.at("prepared/test.bin"));
  EXPECT_EQ(files.at("prepared/valid.second.bin"), single.at("prepared/test.bin"));
  EXPECT_FALSE(files.contains("prepared/test.only.bin"));
  const auto data = open_prepared_data(config_);
  EXPECT_EQ(data.valid->size(), 20);
  ASSERT_EQ(data.more_valid.size(), 1u);
  EXPECT_EQ(data.more_valid[0].name, "second");
  EXPECT_EQ(data.more_valid[0].corpus->size(), 30);
  EXPECT_TRUE(data.more_test.empty());
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  config_.data.eval.pop_back();
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten) << "valid.second.bin is nmt-prepro's own";
  EXPECT_FALSE(output().contains("prepared/valid.second.bin"));
}

TEST_F(Prepare, TheTableNamesTheSets) {
  config_.data.eval = {{"dev", config_.data.eval1, config_.data.eval2}};
  config_.data.eval1.clear(), config_.data.eval2.clear();
  config_.data.test = {{"dev", path("valid.de"), path("valid.en")}};
  config_.data.test1.clear(), config_.data.test2.clear();
  const auto table = prepare().table;
  EXPECT_THAT(table, HasSubstr("\neval dev: valid.de + valid.en "));
  EXPECT_THAT(table, HasSubstr("\ntest dev: valid.de + valid.en "));
}

TEST_F(Prepare, WarnsOfLikelySlips) {
  prepare();
  EXPECT_THAT(log_.str(), Not(HasSubstr("on both sides")));
  EXPECT_THAT(log_.str(), Not(HasSubstr("ISO 639")));
  config_.data.train2 = config_.data.train1;
  config_.data.vocab_size = 100;
  config_.data.eval = {{"dev", path("test.en"), path("test.en")}};
  config_.data.source_language = "czech", config_.data.target_language = "mul";
  overwrite();
  EXPECT_THAT(log_.str(),
              HasSubstr("data.train1 and data.train2 " + path("train.de") + ": the same file on both sides"));
  EXPECT_THAT(log_.str(), HasSubstr("data.eval " + path("test.en") + ": the same file on both sides"));
  EXPECT_THAT(log_.str(), HasSubstr("data.source_language: 'czech' is no code of ISO 639"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("data.target_language: 'mul'")));
}

// Encoding takes memory and time by the length of a word, for nothing where it is dropped.
TEST_F(Prepare, WhatIsTooLongInAnyCaseIsDroppedUnread) {
  prepare();
  const auto train = output().at("prepared/train.bin");
  std::string word;
  for (int64_t i = 0; i < 400000; ++i) word += static_cast<char>('a' + (i * 7919 + i / 13) % 26);
  write("train.de", lines("de", 0, 300) + word + "\nkurz\n");
  write("train.en", lines("en", 0, 300) + "short\n" + word + "\n");
  config_.data.spm_model1 = path("spm.model");
  write("spm.model", output().at("prepared/spm.model"));
  const auto result = overwrite();
  EXPECT_EQ(output().at("prepared/train.bin"), train);
  EXPECT_THAT(result.table, testing::ContainsRegex("302 +300 "));
}

// A symbol with a space passes SentencePiece's own normalisation before it is looked for.
TEST_F(Prepare, RefusesASymbolThatNormalisationChanges) {
  config_.data.user_symbols = {"Die Zahl", "<2en>", "\u00BD"};
  prepare();
  config_.data.user_symbols = {"Die  Zahl"};
  EXPECT_EQ(message_of<Error>([&] { overwrite(); }),
            "data.user_symbols: 'Die  Zahl' is found in no text: data.normalization makes it 'Die Zahl'; write it so, "
            "or leave it out");
  config_.data.user_symbols = {"\u00BD Zahl"};
  EXPECT_THAT(message_of<Error>([&] { overwrite(); }),
              HasSubstr("data.user_symbols: '\u00BD Zahl' is found in no text"));
  config_.data.user_symbols = {"Die Zahl"}, config_.data.normalization = NormalizationRule::kNmtNfkcCf;
  EXPECT_THAT(message_of<Error>([&] { overwrite(); }), HasSubstr("makes it 'die zahl'"));
}

TEST_F(Prepare, WarnsWhereMuchIsUnknown) {
  prepare();
  EXPECT_THAT(log_.str(), Not(HasSubstr("pieces are <unk>; check")));
  std::string other;  // of letters that the vocabulary has never seen
  for (int i = 0; i < 5; ++i) other += "\u65E5\u672C\u8A9E \u6771\u4EAC\n";
  write_file_atomically(path("test.en"), other);
  write_file_atomically(path("test.de"), "a\nb\nc\nd\ne\n");
  overwrite();
  EXPECT_THAT(log_.str(), testing::ContainsRegex("test: [0-9.]+ % of the target's pieces are <unk>; check that it is "
                                                 "text of the vocabulary's language"));
  EXPECT_THAT(log_.str(), Not(testing::ContainsRegex("train: [0-9.]+ % of")));
}

TEST_F(Prepare, ReadsTheColumnsAndTheTmxThatAreNamed) {
  const auto read = [&](const std::string& name, const std::string& content) {
    write_file_atomically(path(name), content);
    config_.data.test1 = config_.data.test2 = path(name);
    overwrite();
    return output().at("prepared/test.bin");
  };
  const auto plain = read("one.tsv", "ein Haus\ta house\n");
  config_.data.tsv_columns = {2, 4};
  EXPECT_EQ(read("four.tsv", "1\tein Haus\t2\ta house\n"), plain);
  EXPECT_EQ(read("both.tmx",
                 "<tmx><tu><tuv xml:lang='en-GB'><seg>a house</seg></tuv><tuv xml:lang='de'><seg>ein Haus</seg></tuv>"
                 "</tu></tmx>"),
            plain);
}

TEST_F(Prepare, TheDataDoesNotDependOnThreadsOrPlace) {
  prepare();
  const auto one = output();
  const auto hash = open_prepared_data(config_).hash;
  config_.data.dir = path("out/elsewhere/");
  config_.run.threads = 1;
  prepare();
  const auto both = output();
  for (const auto* name : {"spm.model", "train.bin", "valid.bin", "test.bin"}) {
    EXPECT_EQ(both.at(std::string("prepared/") + name), both.at(std::string("elsewhere/") + name)) << name;
  }
  EXPECT_EQ(open_prepared_data(config_).hash, hash);
}

TEST_F(Prepare, TwoVocabulariesWhereAsked) {
  config_.data.joint_vocabulary = false;
  config_.data.vocab_size = 60;
  prepare();
  EXPECT_THAT(
      output(),
      testing::AllOf(testing::Contains(Key("prepared/source.spm")), testing::Contains(Key("prepared/target.spm")),
                     testing::Contains(Key("prepared/source.vocab")), testing::Contains(Key("prepared/target.vocab")),
                     Not(testing::Contains(Key("prepared/spm.model")))));
  const auto data = open_prepared_data(config_);
  EXPECT_FALSE(data.codec.joint());
  EXPECT_EQ(data.codec.decode_target(data.codec.encode_target("The number one.")), "The number one.");
}

TEST_F(Prepare, TakesAGivenModel) {
  prepare();
  const auto model = output().at("prepared/spm.model");
  write("given.model", model);
  config_.data.dir = path("out/given");
  config_.data.spm_model1 = path("given.model");
  config_.data.vocab_size = 77;
  prepare();
  EXPECT_EQ(output().at("given/spm.model"), model);
  EXPECT_EQ(output().at("given/train.bin"), output().at("prepared/train.bin"));
  EXPECT_THAT(log_.str(), HasSubstr("150 pieces (data.vocab_size, spm_type, normalization, character_coverage and "
                                    "spm_sentences, which are for learning, are not used)"));
  write("given.model", "no model");
  config_.data.dir = path("out/bad");
  EXPECT_EQ(message(),
            "data.spm_model1 " + path("given.model") + ": not a SentencePiece model, or damaged; make it again");
}

TEST_F(Prepare, UserSymbolsAreFoundOrRefused) {
  config_.data.user_symbols = {"Zahl eins"};
  config_.data.vocab_size = 100;
  prepare();
  const auto codec = open_prepared_data(config_).codec;
  EXPECT_EQ(codec.source().piece(4), "Zahl\u2581eins");
  EXPECT_THAT(codec.encode_source("Die Zahl eins zwei."), testing::Contains(4));
  config_.data.lowercase = true;
  EXPECT_EQ(message_of<Error>([&] { overwrite(); }),
            "data.user_symbols: 'Zahl eins' is found in no text: data.lowercase, nfkc or characters makes it 'zahl "
            "eins'; write it so, or leave it out");
  config_.data.user_symbols = {"zahl eins"};
  overwrite();
  EXPECT_THAT(open_prepared_data(config_).codec.encode_source("Die Zahl eins zwei."), testing::Contains(4));
}

TEST_F(Prepare, LearnsFromASeededSample) {
  config_.data.spm_sentences = 100;
  config_.data.vocab_size = 60;
  prepare();
  EXPECT_THAT(log_.str(), HasSubstr("100 lines, a sample of 600 (data.spm_sentences)"));
  const auto model = output().at("prepared/spm.model");
  overwrite();
  EXPECT_EQ(output().at("prepared/spm.model"), model);
  config_.run.seed = 2;
  EXPECT_THAT(message(), HasSubstr("(run.seed: 1 -> 2)"));
  overwrite();
  EXPECT_NE(output().at("prepared/spm.model"), model);
}

TEST_F(Prepare, LearnsAShareOfTheLinesInCapitals) {
  const auto pieces = [&](const std::string& text) {
    const auto& codec = open_prepared_data(config_).codec;
    std::vector<std::string> result;
    for (const int32_t id : codec.encode_source(text)) result.push_back(codec.source().piece(id));
    return result;
  };
  prepare();
  EXPECT_THAT(pieces("ZAHL"), testing::Contains("<unk>"));
  config_.data.spm_upper = 0.5;
  EXPECT_THAT(message(), HasSubstr("spm_upper"));
  overwrite();
  EXPECT_THAT(pieces("ZAHL"), testing::Contains("\u2581ZAHL"));
  EXPECT_THAT(pieces("Zahl"), testing::Contains("\u2581Zahl"));
  config_.run.seed = 2;
  EXPECT_THAT(message(), HasSubstr("(run.seed: 1 -> 2)"));
}

TEST_F(Prepare, TheSeedDoesNotMatterWhereAllLinesAreUsed) {
  prepare();
  config_.run.seed = 2;
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
}

TEST_F(Prepare, CleansTheTrainingTextOnly) {
  const std::string extra_de = "\n  \nDie Zahl null.\n" + line("de", 321) + "\nneun" + std::string(400, ' ') + "neun\n";
  const std::string extra_en =
      "x\ny\nThe number zero.\n" + line("en", 321) + "\nnine nine nine nine nine nine nine nine\n";
  for (const auto* name : {"train", "valid"}) {
    const int begin = std::string(name) == "train" ? 0 : 300, end = std::string(name) == "train" ? 300 : 320;
    write(std::string(name) + ".de", lines("de", begin, end) + extra_de);
    write(std::string(name) + ".en", lines("en", begin, end) + extra_en);
  }
  config_.data.drop_duplicates = true;
  config_.data.drop_test_overlap = true;
  config_.data.max_length_ratio = 3;
  const auto result = prepare();
  const auto rows = manifest().at("cleaning");
  EXPECT_EQ(rows[0].at("corpus"), "train.de + train.en");
  EXPECT_EQ(rows[0].at("read"), 305);
  EXPECT_EQ(rows[0].at("verdicts").at("empty"), 2);
  // "Die Zahl null." stands in the validation set too, but first of all it is a duplicate.
  EXPECT_EQ(rows[0].at("verdicts").at("duplicate"), 1);
  EXPECT_EQ(rows[0].at("duplicates_found"), 1);
  EXPECT_EQ(rows[0].at("test_overlap_found"), 3);
  EXPECT_EQ(rows[0].at("verdicts").at("test_overlap"), 3);
  EXPECT_EQ(rows[1].at("read"), 25);
  EXPECT_EQ(rows[1].at("verdicts").at("kept"), 25);
  const auto data = open_prepared_data(config_);
  EXPECT_EQ(data.train->size(), rows[0].at("verdicts").at("kept").get<int64_t>());
  ASSERT_EQ(data.valid->size(), 25);
  EXPECT_EQ(data.valid->source_text(21), "");
  EXPECT_THAT(data.valid->source(21), IsEmpty());
  EXPECT_THAT(result.table, HasSubstr("train.de + train.en"));
  EXPECT_THAT(result.table, Not(HasSubstr("(n)")));
}

TEST_F(Prepare, DropsOverlongPairs) {
  config_.data.maxlen1 = 6;
  prepare();
  const auto data = open_prepared_data(config_);
  EXPECT_LT(data.train->size(), 300);
  EXPECT_GT(data.train->size(), 0);
  for (int64_t i = 0; i < data.train->size(); ++i) EXPECT_LT(data.train->source(i).size(), 6u);
  config_.data.maxlen1 = 2;
  EXPECT_THAT(message_of<Error>([&] { overwrite(); }),
              HasSubstr("data.train1: no pair of the training text is left of 300 read (empty 0, duplicate 0, test "
                        "overlap 0, source too long 300, "));
  EXPECT_EQ(open_prepared_data([&] {
              Config before = config_;
              before.data.maxlen1 = 6;
              return before;
            }())
                .train->size(),
            data.train->size())
      << "a failure leaves the old data";
}

TEST_F(Prepare, CutsOverlongPairsWhereAsked) {
  prepare();
  const auto whole = open_prepared_data(config_);
  config_.data.maxlen1 = 8, config_.data.maxlen2 = 6;
  config_.data.too_long = TooLong::kCut;
  config_.data.spm_model1 = path("given.model");
  write("given.model", output().at("prepared/spm.model"));
  overwrite();
  const auto data = open_prepared_data(config_);
  ASSERT_EQ(data.train->size(), 300) << "none is dropped";
  int64_t cut = 0;
  for (int64_t i = 0; i < 300; ++i) {
    for (const auto& [found, all, limit] : {std::tuple(data.train->source(i), whole.train->source(i), 7),
                                            std::tuple(data.train->target(i), whole.train->target(i), 5)}) {
      ASSERT_EQ(std::ssize(found), std::min<int64_t>(std::ssize(all), limit));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin()));
      cut += found.size() < all.size();
    }
    EXPECT_EQ(data.train->target_text(i), line("en", static_cast<int>(i))) << "the text stays whole";
  }
  EXPECT_GT(cut, 100);
  EXPECT_THAT(log_.str(), HasSubstr(std::to_string(cut) + " sentences were cut to data.maxlen1 and maxlen2"));
  EXPECT_EQ(data.valid->source(0).size(), whole.valid->source(0).size()) << "held-out text is never cut";
}

TEST_F(Prepare, CountsAsCutWhatIsKept) {
  write("train.de", lines("de", 0, 300) + lines("de", 0, 300));
  write("train.en", lines("en", 0, 300) + lines("en", 0, 300));
  config_.data.maxlen1 = 4;
  config_.data.too_long = TooLong::kCut;
  config_.data.drop_duplicates = true;
  prepare();
  EXPECT_THAT(log_.str(), HasSubstr(": 300 sentences were cut to data.maxlen1 and maxlen2"));
}

TEST_F(Prepare, ReferencesStayAsTheyStand) {
  write("test.en", "  The NUMBER \xEF\xBC\x91.\r\n" + lines("en", 321, 350));
  config_.data.lowercase = true;
  config_.data.nfkc = true;
  prepare();
  const auto data = open_prepared_data(config_);
  EXPECT_EQ(data.test->target_text(0), "  The NUMBER \xEF\xBC\x91.");
  EXPECT_EQ(data.codec.decode_target(data.test->target(0)).substr(0, 10), "the number");
  EXPECT_EQ(data.test->source_text(0), "die zahl drei zwei null.");
  EXPECT_EQ(data.train->target_text(0), "the number zero.");
}

TEST_F(Prepare, SeveralCorporaKeepTheirNumbers) {
  write("more.de", "<url>x</url>\n<title>y</title>\nDie Zahl zehn.\n");
  write("more.en", "<url>x</url>\n<talkid>1</talkid>\nThe number ten.\n");
  write("third.tsv", "Die Zahl elf.\tThe number eleven.\n");
  config_.data.train1.push_back(path("more.de"));
  config_.data.train2.push_back(path("more.en"));
  config_.data.train_tsv = {path("third.tsv")};
  const auto result = prepare();
  const auto data = open_prepared_data(config_);
  ASSERT_EQ(data.train->size(), 302);
  EXPECT_EQ(data.train->corpus(299), 0);
  EXPECT_EQ(data.train->corpus(300), 1);
  EXPECT_EQ(data.train->corpus(301), 2);
  EXPECT_EQ(data.train->target_text(300), "The number ten.");
  EXPECT_EQ(data.train->target_text(301), "The number eleven.");
  EXPECT_THAT(result.table, HasSubstr("training text together"));
  EXPECT_THAT(log_.str(), HasSubstr("IWSLT tags"));
}

TEST_F(Prepare, JsonLinesGiveTheSameDataAsTwoFiles) {
  prepare();
  const auto file = [&](const char* name) { return read_file(std::filesystem::path(config_.data.dir) / name); };
  const std::string train = file("train.bin"), valid = file("valid.bin"), model = file("spm.model");
  const auto as_json = [](int begin, int end) {
    std::string text;
    for (int i = begin; i < end; ++i)
      text += R"({"de": ")" + line("de", i) + R"(", "id": 1, "en": ")" + line("en", i) + "\"}\n";
    return text;
  };
  write("train.jsonl", as_json(0, 300));
  write("valid.jsonl", as_json(300, 320));
  config_.data.source_language = "de";
  config_.data.target_language = "en";
  config_.data.train1 = config_.data.train2 = {path("train.jsonl")};
  config_.data.eval1 = config_.data.eval2 = path("valid.jsonl");
  const auto result = overwrite();
  EXPECT_EQ(file("train.bin"), train);
  EXPECT_EQ(file("valid.bin"), valid);
  EXPECT_EQ(file("spm.model"), model);
  EXPECT_THAT(result.table, HasSubstr("\ntrain.jsonl "));
  EXPECT_THAT(log_.str(), HasSubstr(path("train.jsonl") + " (JSON lines): 300 pairs"));
}

TEST_F(Prepare, BadBytesStopUnlessRepaired) {
  write("train.en", lines("en", 0, 299) + "bad \xFF\n");
  EXPECT_THAT(message(), StartsWith("data.train2 " + path("train.en") + ":300: byte 5 (0xFF) is not UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(config_.data.dir));
  config_.data.repair_utf8 = true;
  prepare();
  EXPECT_EQ(open_prepared_data(config_).train->target_text(299), "bad \uFFFD");
  EXPECT_EQ(manifest().at("cleaning")[0].at("repaired_lines"), 1);
}

TEST_F(Prepare, LeavesBadLinesOfTheTrainingTextOutWhereAsked) {
  write("train.en", lines("en", 0, 299) + "bad \xFF\n");
  config_.data.bad_lines = BadLines::kSkip;
  prepare();
  EXPECT_EQ(open_prepared_data(config_).train->size(), 299);
  config_.data.dir = path("other");
  write("valid.en", lines("en", 300, 319) + "bad \xFF\n");
  EXPECT_THAT(message(), HasSubstr(path("valid.en") + ":20: byte 5 (0xFF) is not UTF-8")) << "a set stays whole";
}

TEST_F(Prepare, SaysWhatTheUserMustChange) {
  write("train.en", lines("en", 0, 290));
  EXPECT_EQ(message(),
            "data.train2 " + path("train.en") + ": 290 sentences, " + path("train.de") + " has 300; align the files");
  config_.data.train2 = {path("none.en")};
  EXPECT_THAT(message(), StartsWith("data.train2 " + path("none.en")));
  config_.data.train2 = {folder_.path().string()};
  EXPECT_THAT(message(), StartsWith("data.train2 " + folder_.path().string()));
  config_.data.train2 = {"/dev/null"};
  EXPECT_EQ(message(), "data.train2 /dev/null: a pipe or device; name a file, it is read more than once");
  config_.data.train1 = config_.data.train2 = {};
  EXPECT_EQ(message(), "data.train1, data.train2: no training text is set; name the files, or data.train_tsv");
  config_.data.train1 = {path("train.de")};
  config_.data.train2 = {path("train.de")};
  config_.data.vocab_size = 20000;
  EXPECT_THAT(message(), StartsWith("data.vocab_size: 20000 is too large for the training text; at most "));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "prepared"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out")) << "no file is left behind";
}

TEST_F(Prepare, ASecondRunDoesNothing) {
  prepare();
  const auto before = output();
  const auto time = std::filesystem::last_write_time(config_.data.dir);
  const auto again = prepare();
  EXPECT_EQ(again.outcome, PrepareOutcome::kUpToDate);
  EXPECT_THAT(again.table, HasSubstr("train.de + train.en         300   300"));
  EXPECT_EQ(output(), before);
  EXPECT_EQ(std::filesystem::last_write_time(config_.data.dir), time);
  config_.data.lines = TrainedLines::kParagraphs;
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate) << "which is the same data";
  std::filesystem::last_write_time(path("train.de"), std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate) << "a new time, but the same bytes";
}

TEST_F(Prepare, OtherOptionsNeedOverwrite) {
  prepare();
  const auto before = output();
  config_.data.vocab_size = 140;
  config_.data.lowercase = true;
  EXPECT_EQ(message(),
            "data.dir " + config_.data.dir +
                ": holds other data (data.lowercase: false -> true; data.vocab_size: 150 -> 140); --overwrite "
                "makes it again, or set another data.dir");
  EXPECT_EQ(
      message_of<Error>([&] { open_prepared_data(config_); }),
      "data.dir " + config_.data.dir +
          ": made with other options (data.lowercase: false -> true, data.vocab_size: 150 -> 140); run nmt-prepro with "
          "--overwrite, or set another data.dir");
  EXPECT_EQ(output(), before);
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_EQ(open_prepared_data(config_).codec.source().size(), 140);
  EXPECT_THAT(log_.str(), HasSubstr("is made again: data.lowercase: false -> true; data.vocab_size: 150 -> 140"));
}

TEST_F(Prepare, AChangedInputIsNamed) {
  prepare();
  write("train.en", lines("en", 1, 301));
  EXPECT_THAT(message(), HasSubstr("(data.train2 " + path("train.en") + " has changed)"));
  overwrite();
  EXPECT_EQ(open_prepared_data(config_).train->target_text(0), line("en", 1));
}

TEST_F(Prepare, DamageIsSeenAndOverwritten) {
  prepare();
  const std::filesystem::path folder = config_.data.dir;
  const auto expect_damage = [&](const std::string& file, const std::string& text) {
    EXPECT_THAT(message(), HasSubstr((folder / file).string() + ": " + text));
    EXPECT_THAT(message_of<Error>([&] { open_prepared_data(config_); }),
                HasSubstr((folder / file).string() + ": " + text));
    overwrite();
    EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  };
  std::filesystem::resize_file(folder / "valid.bin", 1000);
  expect_damage("valid.bin", "cut short");
  std::filesystem::resize_file(folder / "spm.model", 1000);
  expect_damage("spm.model", "damaged");
  std::filesystem::remove(folder / "train.bin");
  expect_damage("train.bin", "");
  std::ofstream(folder / "manifest.json") << "{\"format\": \"nmt prepared data\"}";
  expect_damage("manifest.json", "damaged");
  std::ofstream(folder / "manifest.json") << "{\"format\": \"nmt prepared data\", \"version\": 0}";
  expect_damage("manifest.json", "of format version 0, where 1 is read");
}

TEST_F(Prepare, MissingDataIsNamed) {
  EXPECT_EQ(message_of<Error>([&] { open_prepared_data(config_); }),
            "data.dir " + config_.data.dir + ": no prepared data there; run nmt-prepro -c CONFIG first");
}

TEST_F(Prepare, ForeignFilesAreNeverReplaced) {
  std::filesystem::create_directories(config_.data.dir);
  std::ofstream(std::filesystem::path(config_.data.dir) / "thesis.tex") << "x";
  const std::string expected = "data.dir " + config_.data.dir +
                               ": holds thesis.tex, which nmt-prepro did not make; set another data.dir, or move it";
  EXPECT_EQ(message(), expected);
  EXPECT_EQ(message_of<Error>([&] { overwrite(); }), expected);
  EXPECT_THAT(output(), ElementsAre(Key("prepared/thesis.tex")));
  config_.data.dir = path("train.de");
  EXPECT_THAT(message(), EndsWith("train.de: is a file; name a folder"));
}

TEST_F(Prepare, StopsWithoutATrace) {
  prepare();
  const auto before = output();
  config_.data.vocab_size = 140;
  // At many a moment at which it looks: before each step, while SentencePiece learns, between blocks.
  for (int moment = 1, stopped = 1; stopped; moment += 1 + moment / 4) {
    int asked = 0;
    const auto result = prepare({.overwrite = Overwrite::kReplace, .should_stop = [&] { return ++asked >= moment; }});
    stopped = result.outcome == PrepareOutcome::kStopped;
    if (!stopped) break;
    ASSERT_EQ(output(), before) << moment;
    ASSERT_LT(moment, 1000);
  }
  EXPECT_NE(output(), before);
}

TEST_F(Prepare, LeavesWhatOthersNamedPartial) {
  const std::filesystem::path theirs = config_.data.dir + ".partial";
  std::filesystem::create_directories(theirs);
  std::ofstream(theirs / "notes.txt") << "mine";
  prepare();
  EXPECT_EQ(read_file(theirs / "notes.txt"), "mine");
}

TEST_F(Prepare, DamagedDataAreFoundByTheNextCommand) {
  prepare();
  const auto path = std::filesystem::path(config_.data.dir) / "train.bin";
  auto bytes = read_file(path);
  bytes[bytes.size() - 9] ^= 1;  // a letter of the last text
  std::ofstream(path, std::ios::binary) << bytes;
  const auto expected =
      path.string() + ": damaged (its checksum is not the manifest's); run nmt-prepro again with --overwrite";
  EXPECT_EQ(message_of<Error>([&] { open_prepared_data(config_); }), expected);
  EXPECT_EQ(message(), expected);
  overwrite();
  EXPECT_NO_THROW(open_prepared_data(config_));
}

}  // namespace
}  // namespace nmt::preprocess_test
