#include "report/tensorboard/tensorboard_observer.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "report/dev_python.h"

namespace nmt::tensorboard_observer_test {
namespace {

using nlohmann::json;

/// What the Python package reads from event files.
class TensorBoardObserverTest : public testing::Test {
 protected:
  void SetUp() override {
    python_ = test::dev_python();
    if (python_.empty()) GTEST_SKIP() << "no Python with tensorboard: scripts/dev_python.sh makes one";
  }
  json read_back() const {
    return json::parse(test::output_of("TF_CPP_MIN_LOG_LEVEL=3 '" + python_ + "' '" +
                                       (test::source_directory() / "tests/report/tensorboard/read_events.py").string() +
                                       "' '" + folder_.path().string() + "'"));
  }
  std::string python_;
  test::TemporaryDirectory folder_;
};

TEST_F(TensorBoardObserverTest, IsReadBackByTensorBoard) {
  TensorBoardObserver observer(folder_.path());
  observer.on_start({.update = 0});
  observer.on_interval({.update = 100,
                        .loss = 2.5,
                        .perplexity = 8.5,
                        .accuracy = 0.25,
                        .learning_rate = 0.5,
                        .gradient_norm = 1.5,
                        .source_tokens_per_second = 4200.5,
                        .target_tokens_per_second = 4100,
                        .real_token_share = 0.875});
  observer.on_epoch({.epoch = 1, .update = 100, .loss = 2.75, .perplexity = 5.5});
  observer.on_validation({.update = 100,
                          .loss = 2,
                          .perplexity = 7,
                          .accuracy = 0.5,
                          .has_bleu = true,
                          .has_chrf = true,
                          .bleu = 28.0625,
                          .chrf = 52.125,
                          .samples = {{"Grüße *an* 中国 .", "Hello .", "Hi <unk> ."}, {"Ja .", "Yes .", "Yes ."}}});
  observer.on_interval({.update = 200, .loss = 2.25});
  const auto events = read_back();
  const json expected = {{"train/loss", {{100, 2.5}, {200, 2.25}}},
                         {"train/perplexity", {{100, 8.5}, {200, 0.0}}},
                         {"train/accuracy", {{100, 0.25}, {200, 0.0}}},
                         {"train/learning_rate", {{100, 0.5}, {200, 0.0}}},
                         {"train/gradient_norm", {{100, 1.5}, {200, 0.0}}},
                         {"train/source_tokens_per_second", {{100, 4200.5}, {200, 0.0}}},
                         {"train/target_tokens_per_second", {{100, 4100.0}, {200, 0.0}}},
                         {"train/real_token_share", {{100, 0.875}, {200, 0.0}}},
                         {"epoch/loss", json::array({{100, 2.75}})},
                         {"epoch/perplexity", json::array({{100, 5.5}})},
                         {"valid/loss", json::array({{100, 2.0}})},
                         {"valid/perplexity", json::array({{100, 7.0}})},
                         {"valid/accuracy", json::array({{100, 0.5}})},
                         {"valid/bleu", json::array({{100, 28.0625}})},
                         {"valid/chrf", json::array({{100, 52.125}})}};
  EXPECT_EQ(events["scalars"], expected);
  EXPECT_EQ(events["plugins"], json({{"valid/samples", "text"}}));
  EXPECT_EQ(events["data_classes"], json({{"valid/samples", 2}}));  // DATA_CLASS_TENSOR
  const json table = {{"source", "reference", "hypothesis"},
                      {"Grüße \\*an\\* 中国 .", "Hello .", "Hi \\<unk\\> ."},
                      {"Ja .", "Yes .", "Yes ."}};
  EXPECT_EQ(events["texts"]["valid/samples"], json::array({{100, table}}));
}

const AttentionGrid kGrid{.name = "decoder.0.cross",
                          .heads = 1,
                          .queries = {"A", "</s>"},
                          .keys = {"Ein", "x", "</s>"},
                          .weights = {1, 0, 0, 0.5, 0.25, 0.25}};

TEST_F(TensorBoardObserverTest, DrawsTheMeanAndTheHeadsWithTheKeysDown) {
  TensorBoardObserver observer(folder_.path());
  auto two_heads = kGrid;
  two_heads.heads = 2;
  two_heads.weights.insert(two_heads.weights.end(), kGrid.weights.begin(), kGrid.weights.end());
  observer.on_validation({.update = 100, .attention = {{two_heads}, {}, {kGrid}}});
  EXPECT_EQ(read_back()["images"], json({{"attention_1/decoder.0.cross/mean", json::array({{100, 16, 24, "PNG"}})},
                                         {"attention_1/decoder.0.cross/heads", json::array({{100, 40, 24, "PNG"}})},
                                         {"attention_3/decoder.0.cross/mean", json::array({{100, 16, 24, "PNG"}})},
                                         {"attention_3/decoder.0.cross/heads", json::array({{100, 16, 24, "PNG"}})}}));
}

TEST_F(TensorBoardObserverTest, NamesPicturesByTheSentence) {
  TensorBoardObserver observer(folder_.path());
  observer.on_validation({.update = 100, .attention = {{kGrid}, {kGrid}}, .attention_lines = {1, 40}});
  const auto images = read_back()["images"];
  EXPECT_TRUE(images.contains("attention_1/decoder.0.cross/mean"));
  EXPECT_TRUE(images.contains("attention_40/decoder.0.cross/mean"));
  EXPECT_FALSE(images.contains("attention_2/decoder.0.cross/mean"));
}

TEST_F(TensorBoardObserverTest, HasNormsOfEachGroup) {
  TensorBoardObserver observer(folder_.path());
  observer.on_interval({.update = 100, .norms = {{.group = "encoder_0", .weights = 8, .gradients = 0.5}}});
  const auto scalars = read_back()["scalars"];
  EXPECT_EQ(scalars["norm/weights/encoder_0"], json::array({{100, 8.0}}));
  EXPECT_EQ(scalars["norm/gradients/encoder_0"], json::array({{100, 0.5}}));
}

TEST_F(TensorBoardObserverTest, HasHistograms) {
  TensorBoardObserver observer(folder_.path());
  observer.on_interval({.update = 100,
                        .histograms = {{.name = "weights/embedding",
                                        .min = -1,
                                        .max = 2,
                                        .sum = 3.5,
                                        .sum_of_squares = 9.25,
                                        .limits = {0, 1, 2},
                                        .counts = {4, 0, 5}}}});
  const json histogram = {{"min", -1.0},
                          {"max", 2.0},
                          {"num", 9.0},
                          {"sum", 3.5},
                          {"sum_squares", 9.25},
                          {"bucket_limit", {0.0, 1.0, 2.0}},
                          {"bucket", {4.0, 0.0, 5.0}}};
  EXPECT_EQ(read_back()["histograms"], json({{"weights/embedding", json::array({{100, histogram}})}}));
}

TEST_F(TensorBoardObserverTest, HasTheTagsOfKyubyongsProgramOf2017) {
  TensorBoardObserver(folder_.path(), TensorBoardTags::kKyubyong2017)
      .on_interval({.update = 100, .loss = 2.5, .accuracy = 0.25});
  const auto scalars = read_back()["scalars"];
  EXPECT_EQ(scalars["mean_loss"], json::array({{100, 2.5}}));
  EXPECT_EQ(scalars["acc"], json::array({{100, 0.25}}));
  EXPECT_FALSE(scalars.contains("train/loss"));
  EXPECT_FALSE(scalars.contains("train/accuracy"));
}

TEST_F(TensorBoardObserverTest, CurvesMayHaveIntervalsOfTheirOwn) {
  TensorBoardObserver own(folder_.path(), TensorBoardTags::kKyubyong2019, CurveIntervals::kOwn);
  for (const int64_t update : {1, 2})
    own.on_curve_point({.update = update, .loss = 2.0 + static_cast<double>(update), .learning_rate = 0.5});
  own.on_interval({.update = 2, .loss = 9, .norms = {{.group = "encoder_0", .weights = 8, .gradients = 0.5}}});
  own.on_interval({.update = 3, .loss = 9});
  const auto scalars = read_back()["scalars"];
  EXPECT_EQ(scalars["loss"], json({{1, 3.0}, {2, 4.0}}));
  EXPECT_EQ(scalars["lr"], json({{1, 0.5}, {2, 0.5}}));
  EXPECT_EQ(scalars["global_step"], json({{1, 1.0}, {2, 2.0}}));
  EXPECT_EQ(scalars["norm/weights/encoder_0"], json::array({{2, 8.0}}));
}

TEST_F(TensorBoardObserverTest, HasTheTagsOfKyubyongsProgram) {
  TensorBoardObserver observer(folder_.path(), TensorBoardTags::kKyubyong2019);
  observer.on_interval({.update = 100, .loss = 2.5, .learning_rate = 0.5});
  observer.on_validation({.update = 100,
                          .references = {"No .", "Yes ."},
                          .hypotheses = {"No", "Yes *!*"},
                          .drawn = 1,
                          .source_pieces = "▁Ja ▁.",
                          .attention = {{kGrid}, {kGrid}}});
  const auto events = read_back();
  EXPECT_EQ(events["scalars"]["loss"], json::array({{100, 2.5}}));
  EXPECT_EQ(events["scalars"]["lr"], json::array({{100, 0.5}}));
  EXPECT_EQ(events["scalars"]["global_step"], json::array({{100, 100.0}}));
  EXPECT_FALSE(events["scalars"].contains("train/loss"));
  EXPECT_EQ(events["texts"]["sent1"], json::array({{100, {"▁Ja ▁."}}}));
  EXPECT_EQ(events["texts"]["pred"], json::array({{100, {"Yes \\*!\\*"}}}));
  EXPECT_EQ(events["texts"]["sent2"], json::array({{100, {"Yes ."}}}));
  EXPECT_EQ(events["images"], json({{"attention/decoder.0.cross", json::array({{100, 16, 24, "PNG"}})}}));
}

TEST_F(TensorBoardObserverTest, HasTheTagsOfThePreNormProgram) {
  TensorBoardObserver observer(folder_.path(), TensorBoardTags::kPrenorm);
  observer.on_interval({.update = 100, .loss = 2.5, .accuracy = 0.25, .learning_rate = 0.5});
  const auto scalars = read_back()["scalars"];
  EXPECT_EQ(scalars["train/loss"], json::array({{100, 2.5}}));
  EXPECT_EQ(scalars["train/acc"], json::array({{100, 0.25}}));
  EXPECT_EQ(scalars["train/learning_rate"], json::array({{100, 0.5}}));
  EXPECT_FALSE(scalars.contains("train/accuracy"));
}

TEST_F(TensorBoardObserverTest, AResumedRunHasEveryStepOnce) {
  const auto run_from = [&](int64_t begin, int64_t end) {
    TensorBoardObserver observer(folder_.path());
    observer.on_start({.update = begin});
    for (int64_t update = begin + 10; update <= end; update += 10) {
      observer.on_interval({.update = update, .loss = static_cast<double>(begin)});
    }
  };
  run_from(0, 60);
  run_from(30, 50);
  run_from(40, 60);
  EXPECT_EQ(read_back()["scalars"]["train/loss"],
            json({{10, 0.0}, {20, 0.0}, {30, 0.0}, {40, 30.0}, {50, 40.0}, {60, 40.0}}));
}

TEST_F(TensorBoardObserverTest, KeepsValidationsOfAveragesApart) {
  TensorBoardObserver observer(folder_.path());
  observer.on_validation({.update = 100, .loss = 2});
  observer.on_validation({.update = 100, .loss = 1.75, .weights = "moving average"});
  observer.on_validation({.update = 100, .loss = 1.5, .weights = "average of updates 50, 100"});
  observer.on_validation({.update = 100, .loss = 1.25, .weights = "average of updates 20, 50, 100"});
  const auto scalars = read_back()["scalars"];
  EXPECT_EQ(scalars["valid/loss"], json::array({{100, 2.0}}));
  EXPECT_EQ(scalars["average/loss"], json::array({{100, 1.75}}));
  EXPECT_EQ(scalars["average_checkpoints/of-2-from-50-to-100/loss"], json::array({{100, 1.5}}));
  EXPECT_EQ(scalars["average_checkpoints/of-3-from-20-to-100/loss"], json::array({{100, 1.25}}));
  EXPECT_FALSE(scalars.contains("valid/bleu"));
}

/// The same from the bytes alone, without a Python.
TEST(TensorBoardTags, AreNotSharedByTheAveragesOfAnUpdate) {
  const test::TemporaryDirectory folder;
  {
    TensorBoardObserver observer(folder.path());
    for (const char* weights : {"", "moving average", "average of updates 50, 100", "average of updates 20, 50, 100"})
      observer.on_validation({.update = 100, .samples = {{"Ja .", "Yes .", "Yes ."}}, .weights = weights});
  }
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) bytes += read_file(entry.path());
  const auto count = [&](const std::string& tag) {
    int64_t found = 0;
    for (size_t at = 0; (at = bytes.find(tag, at)) != std::string::npos; at += tag.size()) ++found;
    return found;
  };
  for (const std::string prefix :
       {"valid/", "average/", "average_checkpoints/of-2-from-50-to-100/", "average_checkpoints/of-3-from-20-to-100/"})
    for (const char* curve : {"loss", "perplexity", "accuracy", "samples"})
      EXPECT_EQ(count(prefix + curve), 1) << prefix << curve;
}

}  // namespace
}  // namespace nmt::tensorboard_observer_test
