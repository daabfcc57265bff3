#include "translation/aligned_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/formula_weights.h"
#include "translation/word_tokenizer.h"

namespace nmt::aligned_texts_test {
namespace {

TEST(TranslateAligned, CopiesUnknownWordsWhereAsked) {
  const auto model =
      test::formula_model(test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2"), 8, 8);
  const auto codec = test::word_codec({"a", "b", "c", "d"});
  // Nothing is left to write but <unk>.
  const TranslatorOptions options{
      .search = {{.beam_size = 1, .min_length = 1, .max_length = 2, .banned_phrases = {"a", "b", "c", "d"}}}};
  const std::vector<std::string> texts = {"Anna", "{x} Anna"};
  const auto translated = [&](bool copy_unknown) {
    const Translator translator({{.model = model.get(), .codec = &codec}}, options);
    const Request common{.copy_unknown = copy_unknown, .terms = {.keep_placeholders = true}};
    std::vector<std::string> found;
    for (const auto& translation : translate_aligned(translator, texts, common)) found.push_back(translation.text);
    return found;
  };
  using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not, testing::StartsWith;
  EXPECT_THAT(translated(false), ElementsAre(StartsWith("<unk>"), StartsWith("{x} <unk>")));
  const auto has_no_unknown = Not(HasSubstr("<unk>"));
  EXPECT_THAT(translated(true),
              ElementsAre(AllOf(StartsWith("Anna"), has_no_unknown), AllOf(StartsWith("{x} Anna"), has_no_unknown)));
}

}  // namespace
}  // namespace nmt::aligned_texts_test
