#include "report/records/metrics_writer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>
#include <vector>

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "support.h"

namespace nmt::metrics_writer_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

ValidationReport validation(int64_t update) {
  return {.epoch = 2,
          .update = update,
          .loss = 2.5,
          .perplexity = 9.25,
          .accuracy = 0.5,
          .has_bleu = true,
          .has_chrf = true,
          .bleu = 28.0649,
          .chrf = 52.1,
          .bleu_line = "BLEU|nrefs:1 = 28.06",
          .chrf_line = "chrF2|nrefs:1 = 52.1",
          .is_best = true,
          .seconds = 3.14,
          .samples = {{"Hallo .", "Hello .", "Hi ."}, {"Ja .", "Yes .", "Yes ."}}};
}

class MetricsWriterTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return read_file(run_ / name); }
  std::vector<std::string> lines(const std::string& name) const { return split(file(name), '\n'); }
  std::vector<int64_t> updates_of_metrics() const {
    std::vector<int64_t> updates;
    for (const auto& line : lines("metrics.jsonl")) updates.push_back(json::parse(line)["update"]);
    return updates;
  }
  std::vector<std::string> sample_files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_ / "samples")) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  test::TemporaryDirectory run_;
};

TEST_F(MetricsWriterTest, WritesEveryFieldOfAnInterval) {
  MetricsWriter writer(run_.path());
  writer.on_interval({.epoch = 2,
                      .update = 100,
                      .loss = 2.5,
                      .perplexity = 8.5,
                      .accuracy = 0.25,
                      .learning_rate = 3e-4,
                      .gradient_norm = 1.5,
                      .source_tokens_per_second = 4200.5,
                      .target_tokens_per_second = 4100,
                      .real_token_share = 0.97,
                      .target_tokens = 123456,
                      .skipped_updates = 3,
                      .seconds_left = 61});
  auto object = json::parse(file("metrics.jsonl"));
  EXPECT_GT(object["time"].get<double>(), 1.6e9);
  object.erase("time");
  EXPECT_EQ(object, json({{"epoch", 2},
                          {"update", 100},
                          {"loss", 2.5},
                          {"perplexity", 8.5},
                          {"accuracy", 0.25},
                          {"learning_rate", 3e-4},
                          {"gradient_norm", 1.5},
                          {"source_tokens_per_second", 4200.5},
                          {"target_tokens_per_second", 4100.0},
                          {"real_token_share", 0.97},
                          {"target_tokens", 123456},
                          {"skipped_updates", 3},
                          {"seconds_left", 61.0}}));
}

TEST_F(MetricsWriterTest, WritesNullForWhatIsNotANumberOrNotKnown) {
  MetricsWriter writer(run_.path());
  writer.on_interval({.update = 1, .loss = NAN, .perplexity = INFINITY});
  const auto object = json::parse(file("metrics.jsonl"));
  for (const char* key : {"loss", "perplexity", "seconds_left"}) EXPECT_TRUE(object.at(key).is_null()) << key;
}

TEST_F(MetricsWriterTest, WritesATableOfValidationsWithAStarAtEachNewBest) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(100));
  auto worse = validation(200);
  worse.is_best = false;
  writer.on_validation(worse);
  auto average = validation(200);
  average.weights = "average of updates 100, 200";
  writer.on_validation(average);
  const auto table = lines("validations.tsv");
  ASSERT_EQ(table.size(), 4u);
  EXPECT_THAT(split(table[0], '\t'), ElementsAre("best", "epoch", "update", "loss", "perplexity", "accuracy", "bleu",
                                                 "chrf", "seconds", "weights", "bleu_line", "chrf_line"));
  EXPECT_THAT(split(table[1], '\t'), ElementsAre("*", "2", "100", "2.50000", "9.2500", "0.50000", "28.06", "52.10",
                                                 "3.1", "", "BLEU|nrefs:1 = 28.06", "chrF2|nrefs:1 = 52.1"));
  EXPECT_EQ(split(table[2], '\t')[0], "");
  EXPECT_EQ(split(table[3], '\t')[9], "average of updates 100, 200");
}

TEST_F(MetricsWriterTest, WritesATableOfEachOtherSet) {
  auto report = validation(100);
  report.others = {validation(100), validation(100)};
  report.others[0].set = "dev2011", report.others[0].is_best = false, report.others[0].bleu = 11.5;
  report.others[1].set = "a.b";
  {
    MetricsWriter writer(run_.path());
    writer.on_validation(report);
    report.update = report.others[0].update = report.others[1].update = 200;
    writer.on_validation(report);
  }
  EXPECT_EQ(lines("validations.tsv").size(), 3u);
  ASSERT_EQ(lines("validations.dev2011.tsv").size(), 3u);
  EXPECT_EQ(lines("validations.dev2011.tsv")[0], lines("validations.tsv")[0]);
  EXPECT_THAT(lines("validations.dev2011.tsv")[1], testing::HasSubstr("\t11.50\t"));
  EXPECT_THAT(other_validation_sets(run_.path()), ElementsAre("a.b", "dev2011"));
  MetricsWriter resumed(run_.path(), {}, {"dev2011", "a.b"});
  resumed.truncate_after(100);
  EXPECT_EQ(lines("validations.dev2011.tsv").size(), 2u);
  EXPECT_EQ(lines("validations.a.b.tsv").size(), 2u);
}

TEST_F(MetricsWriterTest, LeavesTablesOfOthersAlone) {
  auto report = validation(100);
  report.others = {validation(100)};
  report.others[0].set = "dev2011";
  MetricsWriter(run_.path(), {}, {"dev2011"}).on_validation(report);
  const auto table = file("validations.dev2011.tsv");
  write_file_atomically(run_ / "validations.before.tsv", table);
  write_file_atomically(run_ / "validations.notes.tsv", "mine");
  MetricsWriter(run_.path(), {}, {"dev2011"}).truncate_after(50);
  EXPECT_EQ(lines("validations.dev2011.tsv").size(), 1u);
  EXPECT_EQ(file("validations.before.tsv"), table);
  EXPECT_EQ(file("validations.notes.tsv"), "mine");
}

TEST_F(MetricsWriterTest, LeavesScoresThatWereNotMeasuredEmpty) {
  MetricsWriter writer(run_.path());
  writer.on_validation({.update = 100, .loss = 1});
  const auto cells = split(lines("validations.tsv")[1] + "\tend", '\t');
  ASSERT_EQ(cells.size(), 13u);
  EXPECT_EQ(cells[6] + cells[7] + cells[10] + cells[11], "");
  EXPECT_FALSE(std::filesystem::exists(run_ / "samples"));
}

TEST_F(MetricsWriterTest, WritesTheSamplesOfEachValidation) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(100));
  EXPECT_EQ(file("samples/00000100.txt"),
            "source: Hallo .\nreference: Hello .\nhypothesis: Hi .\n\n"
            "source: Ja .\nreference: Yes .\nhypothesis: Yes .\n\n");
}

TEST_F(MetricsWriterTest, AResumedRunHasEveryUpdateOnce) {
  const auto run_from = [&](int64_t begin, int64_t end) {
    MetricsWriter writer(run_.path());
    writer.on_start({.update = begin});
    for (int64_t update = begin + 10; update <= end; update += 10) {
      writer.on_interval({.update = update});
      if (update % 20 == 0) writer.on_validation(validation(update));
    }
  };
  run_from(0, 60);
  const std::string validations = file("validations.tsv");
  run_from(30, 60);
  EXPECT_THAT(updates_of_metrics(), ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_EQ(file("validations.tsv"), validations);
  EXPECT_THAT(sample_files(), ElementsAre("00000020.txt", "00000040.txt", "00000060.txt"));
}

TEST_F(MetricsWriterTest, ARunThatBeginsAnewDropsEverything) {
  {
    MetricsWriter writer(run_.path());
    writer.on_interval({.update = 10});
    auto report = validation(10);
    writer.on_validation(report);
    report.weights = "average of updates 5, 10";
    writer.on_validation(report);
  }
  EXPECT_THAT(sample_files(), ElementsAre("00000010-average-of-2-from-5-to-10.txt", "00000010.txt"));
  write_file_atomically(run_ / "samples/notes.txt", "mine");
  MetricsWriter(run_.path()).on_start({.update = 0});
  EXPECT_EQ(file("metrics.jsonl"), "");
  EXPECT_EQ(lines("validations.tsv").size(), 1u);
  EXPECT_THAT(sample_files(), ElementsAre("notes.txt"));
}

TEST_F(MetricsWriterTest, DrawsTheAttentionOfAValidation) {
  MetricsWriter writer(run_.path());
  auto report = validation(100);
  writer.on_validation(report);
  EXPECT_FALSE(std::filesystem::exists(run_ / "attention")) << "a model without";
  report.attention = {{{.name = "decoder.0.cross", .heads = 1, .queries = {"A"}, .keys = {"Ein"}, .weights = {1}}}};
  writer.on_validation(report);
  report.update = 200;
  writer.on_validation(report);
  EXPECT_THAT(file("attention/00000100.svg"), testing::HasSubstr("decoder.0.cross"));
  writer.truncate_after(100);
  EXPECT_TRUE(std::filesystem::exists(run_ / "attention/00000100.svg"));
  EXPECT_FALSE(std::filesystem::exists(run_ / "attention/00000200.svg"));
}

ValidationReport with_texts(int64_t update, bool is_best, const std::string& weights = "") {
  return {.update = update,
          .is_best = is_best,
          .sources = {"Ein\tHund", "Ja ."},
          .references = {"A dog", "Yes ."},
          .hypotheses = {"Dog", "Yes ."},
          .attention = {{{.name = "decoder.0.self", .heads = 1, .queries = {"A"}, .keys = {"A"}, .weights = {1}},
                         {.name = "decoder.0.cross", .heads = 1, .queries = {"A"}, .keys = {"B"}, .weights = {1}}},
                        {}},
          .weights = weights};
}

TEST_F(MetricsWriterTest, WritesAllTranslationsAndTheAttentionToTheSource) {
  MetricsWriter writer(run_.path());
  writer.on_validation(with_texts(100, false));
  EXPECT_EQ(file("translations/00000100.tsv"), "Ein Hund\tA dog\tDog\nJa .\tYes .\tYes .\n");
  const auto attention = json::parse(file("attention/00000100.json"));
  ASSERT_EQ(attention["sentences"].size(), 2u);
  ASSERT_EQ(attention["sentences"][0]["layers"].size(), 1u);
  EXPECT_EQ(attention["sentences"][0]["layers"][0]["name"], "decoder.0.cross");
  EXPECT_EQ(attention["sentences"][1]["layers"].size(), 0u);
}

TEST_F(MetricsWriterTest, KeepsTheTranslationsOfTheBestAndTheLastValidation) {
  MetricsWriter writer(run_.path());
  writer.on_validation(with_texts(100, true));
  writer.on_checkpoint(100);
  writer.on_validation(with_texts(200, true));
  writer.on_validation(with_texts(300, false));
  writer.on_validation(with_texts(300, false, "moving average"));
  const auto kept = [&](const std::string& folder, const std::string& extension) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_ / folder))
      if (entry.path().extension() == extension) names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
  };
  // The run may still have to go back to the checkpoint of update 100.
  EXPECT_THAT(kept("translations", ".tsv"), ElementsAre("00000100", "00000200", "00000300"));
  writer.on_checkpoint(300);
  EXPECT_THAT(kept("translations", ".tsv"), ElementsAre("00000200", "00000300"));
  EXPECT_THAT(kept("attention", ".json"), ElementsAre("00000200", "00000300"));
  EXPECT_THAT(kept("attention", ".svg"), ElementsAre("00000100", "00000200", "00000300", "00000300-average"));

  MetricsWriter resumed(run_.path());
  resumed.on_start({.update = 300});
  resumed.on_checkpoint(300);
  EXPECT_THAT(kept("translations", ".tsv"), ElementsAre("00000200", "00000300"));
  resumed.on_validation(with_texts(400, true, "moving average"));
  resumed.on_checkpoint(400);
  EXPECT_THAT(kept("translations", ".tsv"), ElementsAre("00000300", "00000400-average"));
  resumed.truncate_after(200);
  EXPECT_THAT(kept("translations", ".tsv"), ElementsAre());
}

TEST_F(MetricsWriterTest, KeepsTheAveragesOfAnUpdateApart) {
  const auto validate = [](MetricsWriter& writer, const std::string& weights, bool is_best) {
    auto report = with_texts(300, is_best, weights);
    report.samples = {{"Hund", "dog", "the " + weights}};
    for (auto& hypothesis : report.hypotheses) hypothesis = weights;
    report.attention[0][1].queries = {weights};
    writer.on_validation(report);
  };
  const std::string last = "average of updates 100, 200, 300", best = "average of updates 50, 100, 300",
                    stem = "00000300-average-of-3-from-100-to-300";
  MetricsWriter writer(run_.path());
  validate(writer, "moving average", false);
  validate(writer, last, true);
  validate(writer, best, false);
  writer.on_checkpoint(300);
  EXPECT_EQ(file("translations/" + stem + ".tsv"), "Ein Hund\tA dog\t" + last + "\nJa .\tYes .\t" + last + "\n");
  EXPECT_THAT(file("attention/" + stem + ".json"), testing::HasSubstr(last));
  EXPECT_THAT(file("attention/" + stem + ".svg"), testing::HasSubstr(last));
  EXPECT_THAT(file("samples/" + stem + ".txt"), testing::HasSubstr(last));
  EXPECT_THAT(file("samples/00000300-average-of-3-from-50-to-300.txt"), testing::HasSubstr(best));
  EXPECT_THAT(file("samples/00000300-average.txt"), testing::HasSubstr("moving average"));
  MetricsWriter resumed(run_.path());
  resumed.on_start({.update = 300});
  resumed.on_checkpoint(300);
  EXPECT_TRUE(std::filesystem::exists(run_ / ("translations/" + stem + ".tsv"))) << "it is still the best";
  resumed.truncate_after(200);
  EXPECT_THAT(sample_files(), ElementsAre());
}

TEST_F(MetricsWriterTest, WritesALineForEachSession) {
  const auto session = [&](int64_t from, const std::string& end) {
    MetricsWriter writer(run_.path(), {{"toolkit", "1.2.3"}});
    writer.on_start({.parameters = 1234, .update = from, .device = "cpu", .precision = "bf16", .threads = 2});
    if (!end.empty()) writer.on_end(end);
  };
  session(0, "");         // killed before its first checkpoint
  session(0, "stopped");  // so that this one takes its place
  session(300, "");
  session(400, "done");
  session(350, "");  // what the one from 400 did is lost
  ASSERT_EQ(lines("sessions.jsonl").size(), 3u);
  auto first = json::parse(lines("sessions.jsonl")[0]);
  EXPECT_GT(first["time"].get<double>(), 1.6e9);
  EXPECT_GE(first["end_time"], first["time"]);
  first.erase("time"), first.erase("end_time");
  EXPECT_EQ(first, json({{"update", 0},
                         {"end", "stopped"},
                         {"environment",
                          {{"toolkit", "1.2.3"},
                           {"device", "cpu"},
                           {"precision", "bf16"},
                           {"threads", "2"},
                           {"parameters", "1,234"}}}}));
  EXPECT_EQ(json::parse(lines("sessions.jsonl")[2])["update"], 350);
}

}  // namespace
}  // namespace nmt::metrics_writer_test
