#include <gmock/gmock.h>

#include "base/error.h"
#include "config/loading/model_description.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::preprocess_ready_codec_test {
namespace {

using test::message_of;
using testing::HasSubstr;

/// training.init_from: a model whose two tokenizers may have the ids of one table, as an imported one.
class PrepareForModel : public test::PrepareFixture {
 protected:
  PrepareForModel() {
    config_.data.joint_vocabulary = false;
    config_.data.vocab_size = 110;
    prepare();
    std::filesystem::create_directory(model_);
    const auto codec = open_prepared_data(config_).codec;
    write_model_description(model_, {.config = {},
                                     .tokenizer = codec.save(model_),
                                     .parameters = 1,
                                     .source_vocabulary = codec.source().size(),
                                     .target_vocabulary = codec.target().size()});
    learnt_ = config_;
    config_.data.dir += "-for-model";
    config_.data.joint_vocabulary = true;  // of an import: the table is one
    config_.training.init_from = model_.string();
  }

  std::filesystem::path model_ = folder_ / "model";
  Config learnt_;
};

TEST_F(PrepareForModel, TakesItsTokenizers) {
  config_.data.source_prefix = "Die Zahl: ";
  config_.data.source_language = "nl";
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kWritten);
  const auto data = open_prepared_data(config_);
  const auto theirs = load_codec(model_);
  EXPECT_FALSE(data.codec.joint());
  EXPECT_NE(theirs.source().piece(20), theirs.target().piece(20));
  EXPECT_EQ(data.codec.source().encode(line("de", 7)), theirs.source().encode(line("de", 7)));
  EXPECT_EQ(std::vector<int32_t>(data.train->target(7).begin(), data.train->target(7).end()),
            theirs.encode_target(line("en", 7)));
  EXPECT_EQ(data.codec.options().source_prefix, "Die Zahl: ");
  EXPECT_EQ(data.codec.options().source_language, "nl");
  EXPECT_THAT(log_.str(), HasSubstr("training.init_from: the model's own vocabulary, 110 and 110 pieces, one for each "
                                    "language"));
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
}

TEST_F(PrepareForModel, SeesDataInOtherPieces) {
  config_ = learnt_;
  config_.training.init_from = model_.string();
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate) << "its own text";
  learnt_.data.vocab_size = 100;
  std::swap(config_, learnt_);
  overwrite();
  std::swap(config_, learnt_);
  config_.data.vocab_size = 100;
  EXPECT_THAT(message_of<Error>([&] { prepare(); }),
              HasSubstr("holds other data (training.init_from " + model_.string() +
                        ": source: the vocabulary has 110 entries there and 100 here; "));
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_EQ(open_prepared_data(config_).codec.source().size(), 110);
}

}  // namespace
}  // namespace nmt::preprocess_ready_codec_test
