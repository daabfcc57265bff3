// What a dry run says against what an update takes that is made here by hand.
#include "training/dry_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/error.h"
#include "config/loading/schema.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "nn/device/cpu_allocator.h"
#include "support.h"
#include "text/words.h"
#include "training/optimizers/optimizer.h"
#include "training/trained_update.h"
#include "translation/word_tokenizer.h"

namespace nmt::dry_run_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kProgram = 300'000'000, kRows = 48, kSource = 20, kTarget = 17;

std::vector<std::string> words() {
  std::vector<std::string> words;
  for (int i = 0; i < 300; ++i) words.push_back(fmt::format("w{}", i));
  return words;
}

class DryRunTest : public testing::Test {
 protected:
  void SetUp() override {
    reuse_freed_tensors();
    PreparedCorpusWriter writer(folder_ / "train.bin");
    // 80 short pairs are a batch, and the long ones another.
    for (int64_t i = 0; i < 80 + kRows; ++i) {
      const size_t less = i < 80 ? 8 : 0;
      writer.add({.source = std::vector<int32_t>(kSource - 1 - less, 5),
                  .target = std::vector<int32_t>(kTarget - 1 - less, 6),
                  .source_text = "x",
                  .target_text = "y"});
    }
    writer.finish();
    data_.train = std::make_shared<const PreparedCorpus>(folder_ / "train.bin");
  }

  Config config(const std::string& training = "", const std::string& model = "d_model: 64, d_ff: 128") const {
    return parse_config(fmt::format("{{data: {{maxlen1: 32, maxlen2: 32}}, model: {{num_blocks: 2, num_heads: 4, {}}}, "
                                    "training: {{batch_type: tokens, batch_size: {}{}}}, run: {{dir: {}}}}}",
                                    model, kRows * kSource, training, (folder_ / "none").string()),
                        "test")
        .config;
  }
  DryRunAnswer ask(const Config& config, int64_t memory, bool elsewhere = false, int64_t processes = 1) const {
    return dry_run(config, data_,
                   {.memory_here = elsewhere ? int64_t{8} << 30 : memory,
                    .elsewhere = elsewhere,
                    .memory = memory,
                    .processes = processes});
  }

  test::TemporaryDirectory folder_;
  PreparedData data_{{}, {}, {}, {}, {}, test::word_codec(words()), {}, {}, {}, {}};
};

/// Tensors of the second update of a run, with `batches` of the largest batch.
int64_t peak_of_training(const Config& config, int64_t vocabulary, size_t batches) {
  measure_tensors_anew();
  const int64_t before = most_tensor_bytes_in_use();
  const auto model = make_model(config.model, vocabulary, vocabulary);
  initialise(*model, config.model, 1);
  const auto optimizer = make_optimizer(config.training, named_parameters(*model));
  const auto words = [](int64_t count) { return std::vector<int64_t>(static_cast<size_t>(count - 1), 5); };
  const auto batch = test::batch_of(std::vector<test::Pair>(kRows, {words(kSource), words(kTarget)}));
  for (int64_t update = 1; update <= 2; ++update) {
    measure_tensors_anew();
    test::update({*model, *optimizer}, std::vector<Batch>(batches, batch), config.training, 1e-4, {1, update});
  }
  return most_tensor_bytes_in_use() - before;
}

TEST_F(DryRunTest, SaysWhatAnUpdateOfTheLargestBatchTakes) {
  for (const std::string training : {"", ", accumulate: 3", ", optimizer: adafactor, adam_beta2: 0.999"}) {
    SCOPED_TRACE(training);
    const auto configuration = config(training);
    const auto answer = ask(configuration, int64_t{8} << 30);
    const auto expected = static_cast<double>(peak_of_training(configuration, data_.codec.source().size(),
                                                               static_cast<size_t>(configuration.training.accumulate)));
    EXPECT_NEAR(static_cast<double>(answer.needed - kProgram), expected, 0.02 * expected) << answer.table;
    EXPECT_TRUE(answer.fits && answer.advice.empty());
    EXPECT_THAT(answer.table, HasSubstr("of the largest batch, 48 pairs of 20 and 17 tokens\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(DryRunTest, CountsTheTeacher) {
  std::string vocabulary = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
  for (const auto& word : words()) vocabulary += word + "\t1\n";
  const auto tokenizer = std::make_shared<WordTokenizer>(vocabulary, "vocabulary", WordLimits());
  data_.codec = TextCodec({}, tokenizer, tokenizer);  // one that can be saved
  const auto student = config(), wide = config("", "d_model: 128, d_ff: 512");
  const auto teacher = folder_ / "teacher";
  std::filesystem::create_directory(teacher);
  const int64_t size = data_.codec.source().size();
  save_model(teacher, *make_model(wide.model, size, size), wide, data_.codec, nlohmann::json::object());
  const auto alone = ask(student, int64_t{8} << 30);
  const auto taught = ask(config(", objective: distillation, teacher: " + teacher.string()), int64_t{8} << 30);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(teacher / "model.safetensors"));
  EXPECT_THAT(taught.table, HasSubstr("\nteacher "));
  EXPECT_GT(taught.needed, alone.needed + bytes) << taught.table;
}

TEST_F(DryRunTest, HalvesABatchThatDoesNotFit) {
  const auto all = ask(config(), int64_t{8} << 30);
  const auto half = ask(config(), kProgram + (all.needed - kProgram) * 3 / 4);
  EXPECT_FALSE(half.fits);
  EXPECT_THAT(half.table, HasSubstr("1/2 of the largest batch, 48 pairs"));
  EXPECT_THAT(half.advice, HasSubstr("set training.batch_size: 480 with training.accumulate: 2, or try"));
  const auto none = ask(config(), kProgram + 1'000'000);
  EXPECT_FALSE(none.fits);
  EXPECT_THAT(none.advice, HasSubstr("no batch fits into 301.0 MB"));
  torch::empty({8 << 20});  // the limit is gone
}

TEST_F(DryRunTest, ScalesWhatItMeasuredToAnotherMachine) {
  const auto large = config(", accumulate: 2");
  const auto here = ask(large, int64_t{8} << 30), there = ask(large, int64_t{80} << 30, /*elsewhere=*/true);
  EXPECT_EQ(there.needed, here.needed);
  const auto small = ask(large, here.needed - 1'000'000, /*elsewhere=*/true);
  EXPECT_FALSE(small.fits);
  EXPECT_EQ(small.needed, here.needed);
  EXPECT_THAT(small.advice, HasSubstr("set training.batch_size: 480 with training.accumulate: 4"));
}

TEST_F(DryRunTest, KnowsAModelThatThisMachineCannotHold) {
  const auto huge = config("", "d_model: 8192, d_ff: 32768");
  measure_tensors_anew();
  const int64_t before = most_tensor_bytes_in_use();
  const auto answer = ask(huge, 40'000'000'000, /*elsewhere=*/true);
  EXPECT_LT(most_tensor_bytes_in_use() - before, 8 << 20);
  EXPECT_THAT(answer.advice, HasSubstr("no batch fits into 40.00 GB; take a smaller model, or more memory"));
  EXPECT_THAT(test::message_of<MachineError>([&] { ask(huge, 10'000'000'000'000, /*elsewhere=*/true); }),
              HasSubstr("here are 8.59 GB; ask on a machine with more memory"));
}

TEST_F(DryRunTest, ProcessesShareTheMoments) {
  const auto needed = [&](const std::string& training) {
    return ask(config(", accumulate: 4" + training), int64_t{8} << 30, /*elsewhere=*/false, 4).needed;
  };
  const auto parameters =
      make_model(config().model, data_.codec.source().size(), data_.codec.target().size())->parameter_count();
  const auto saved = static_cast<double>(needed("") - needed(", shard_optimizer: true"));
  EXPECT_NEAR(saved, 0.75 * 8 * static_cast<double>(parameters), 0.1 * 8 * static_cast<double>(parameters));
}

}  // namespace
}  // namespace nmt::dry_run_test
