#include <gtest/gtest.h>

#include "base/error.h"
#include "config/loading/model_description.h"
#include "data/manifest.h"
#include "data/prepared_data.h"
#include "support.h"
#include "text/words.h"

namespace nmt::codec_directory_test {
namespace {

TextCodec codec_of_words() {
  WordCounts counts;
  counts.add("a a b");
  const auto words = std::make_shared<const WordTokenizer>(counts.to_tsv(), "test", WordLimits{});
  return TextCodec({.source_language = "de", .target_language = "en"}, words, words);
}

TEST(CodecDirectory, IsPreparedDataOrAModel) {
  const test::TemporaryDirectory prepared, model, other;
  Manifest manifest;
  manifest.tokenizer = codec_of_words().save(prepared.path());
  manifest.write(prepared.path());
  write_model_description(model.path(), {.config = {},
                                         .tokenizer = codec_of_words().save(model.path()),
                                         .summary = nlohmann::json::object(),
                                         .parameters = 1,
                                         .source_vocabulary = 6,
                                         .target_vocabulary = 6});
  for (const auto& path : {prepared.path(), model.path()})
    EXPECT_EQ(load_codec(path).encode_source("b a"), (std::vector<int32_t>{5, 4})) << path;
  EXPECT_EQ(test::message_of<Error>([&] { load_codec(other.path()); }),
            other.path().string() + ": neither prepared data (data.dir of a configuration) nor a model directory");
}

}  // namespace
}  // namespace nmt::codec_directory_test
