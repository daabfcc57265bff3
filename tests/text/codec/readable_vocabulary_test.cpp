#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include <fstream>

#include "base/files/file.h"
#include "support.h"
#include "text/codec/codec.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/training_lines.h"
#include "text/words.h"

namespace nmt::readable_vocabulary_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::shared_ptr<const WordTokenizer> words(int64_t min_count) {
  return std::make_shared<const WordTokenizer>(
      "<PAD>\t1000000000\n<UNK>\t1000000000\n<S>\t1000000000\n</S>\t1000000000\nthe\t7\nrare\t1\ndog\t2\n", "test",
      WordLimits{.min_count = min_count});
}

TEST(ReadableVocabulary, IsTheFileThatSentencePieceWrites) {
  for (const std::string type : {"bpe", "unigram"}) {
    const test::TemporaryDirectory folder;
    {
      std::ofstream file(folder / "lines");
      for (const auto& line : test::training_lines()) file << line << '\n';
    }
    const auto status = sentencepiece::SentencePieceTrainer::Train({{"input", folder / "lines"},
                                                                    {"model_prefix", folder / "own"},
                                                                    {"model_type", type},
                                                                    {"vocab_size", "70"},
                                                                    {"pad_id", "0"},
                                                                    {"unk_id", "1"},
                                                                    {"bos_id", "2"},
                                                                    {"eos_id", "3"},
                                                                    {"minloglevel", "2"}});
    ASSERT_TRUE(status.ok()) << status.ToString();
    const auto text = readable_vocabulary(*SentencePieceTokenizer::load(folder / "own.model"));
    EXPECT_EQ(text, read_file(folder / "own.vocab")) << type;
    EXPECT_THAT(text, testing::StartsWith("<pad>\t0\n<unk>\t0\n<s>\t0\n</s>\t0\n"));
  }
}

TEST(ReadableVocabulary, OfWordsHasTheirCountsInTheOrderOfTheirIds) {
  EXPECT_EQ(readable_vocabulary(*words(2)),
            "<PAD>\t1000000000\n<UNK>\t1000000000\n<S>\t1000000000\n</S>\t1000000000\nthe\t7\ndog\t2\n");
}

TEST(ReadableVocabulary, StandsBesideTheFilesOfACodec) {
  const TextCodec::Options options{.source_language = "de", .target_language = "en"};
  const auto both = words(1);
  EXPECT_THAT(readable_vocabularies(TextCodec(options, both, both)),
              ElementsAre(Pair("joint.vocab", readable_vocabulary(*both))));
  EXPECT_THAT(
      readable_vocabularies(TextCodec(options, both, words(2))),
      ElementsAre(Pair("de.vocab", readable_vocabulary(*both)), Pair("en.vocab", readable_vocabulary(*words(2)))));
  EXPECT_EQ(readable_name("spm.model"), "spm.vocab");
  EXPECT_EQ(readable_name("target.spm"), "target.vocab");
  EXPECT_EQ(readable_name("de.vocab.tsv"), "de.vocab");
}

}  // namespace
}  // namespace nmt::readable_vocabulary_test
