#include <gtest/gtest.h>

#include "data/batches.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::multi30k_test {
namespace {

/// On real data, where there is some.
class Multi30k : public test::PrepareFixture {
 protected:
  void SetUp() override {
    const auto shared = test::shared_directory();
    const auto data = shared / "data" / "multi30k";
    if (shared.empty() || !std::filesystem::exists(data)) GTEST_SKIP() << "no Multi30k below " << shared;
    config_.data.train1 = {(data / "train.de.gz").string()};
    config_.data.train2 = {(data / "train.en.gz").string()};
    config_.data.eval1 = (data / "val.de.gz").string();
    config_.data.eval2 = (data / "val.en.gz").string();
    config_.data.test1 = (data / "test_2016_flickr.de.gz").string();
    config_.data.test2 = (data / "test_2016_flickr.en.gz").string();
    config_.data.vocab_size = 4000;
    config_.data.spm_sentences = 8000;  // for a quick test
    config_.data.character_coverage = 0.9995;
    prepare();
  }
};

TEST_F(Multi30k, TokenBatchesAreNearlyFreeOfPadding) {
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(data.train->size(), 29000);
  EXPECT_EQ(data.valid->size(), 1014);
  EXPECT_EQ(data.test->size(), 1000);
  int64_t real = 0, padded = 0;
  for (const auto& pairs : plan_epoch(*data.train, {BatchType::kTokens, 4096, 1}, 0)) {
    const Batch batch = make_batch(*data.train, pairs);
    real += batch.source_tokens + batch.target_tokens;
    padded += batch.size * (batch.source_width + batch.target_width);
  }
  const double share = static_cast<double>(real) / static_cast<double>(padded);
  EXPECT_GE(share, 0.95);
  RecordProperty("share_of_real_tokens", std::to_string(share));
  std::cout << "share of real tokens: " << share << "\n";
}

}  // namespace
}  // namespace nmt::multi30k_test
