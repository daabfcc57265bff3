#include "text/codec/language_tags.h"

#include <gmock/gmock.h>

#include <memory>

#include "base/error.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::language_tags_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::IsEmpty;

TextCodec codec_with(SentencePieceOptions options) {
  options.vocab_size = 100, options.character_coverage = 1;
  const auto both =
      std::make_shared<const SentencePieceTokenizer>(*train_sentencepiece(test::training_lines(), options), "test");
  return {{.source_language = "de", .target_language = "en"}, both, both};
}

TEST(LanguageTags, AreTheFirstPieceOfEachSource) {
  for (const char* type : {"bpe", "unigram"}) {
    const auto codec = codec_with({.type = type, .tags = {">>cs<<", ">>zh_Hant<<"}});
    EXPECT_THAT(target_languages(codec), ElementsAre("cs", "zh_Hant"));
    const auto line = test::training_lines().front();
    const auto plain = codec.encode_source(line);
    for (const std::string language : {"cs", "zh_Hant"}) {
      const auto tagged = into_language(codec, language);
      EXPECT_EQ(tagged.options().target_language, language);
      EXPECT_THAT(target_languages(tagged), ElementsAre("cs", "zh_Hant"));
      auto pieces = tagged.encode_source(line);
      EXPECT_EQ(tagged.prefix_length(pieces), 1);
      EXPECT_EQ(codec.source().piece(pieces.front()), std::string(kSpaceMark) + ">>" + language + "<<");
      EXPECT_EQ(pieces, codec.encode_source(">>" + language + "<< " + line)) << "as if it were typed";
      pieces.erase(pieces.begin());
      EXPECT_EQ(pieces, plain) << type;
      EXPECT_THAT(tagged.encode_source(" "), IsEmpty());
    }
  }
}

TEST(LanguageTags, ChangeNoOtherPiece) {
  const auto plain = codec_with({.user_symbols = {"x1", "x2"}}), tagged = codec_with({.tags = {">>a<<", ">>b<<"}});
  for (int32_t id = 6; id < 100; ++id) EXPECT_EQ(plain.source().piece(id), tagged.source().piece(id));
}

TEST(LanguageTags, OfOtherMakersAreFoundToo) {
  EXPECT_THAT(target_languages(codec_with({.user_symbols = {">>fra<<", "<BT>", ">><<"}})), ElementsAre("fra"));
}

TEST(LanguageTags, StandBeforeBothSides) {
  const auto plain = codec_with({.tags = {">>cs<<", ">>fr<<", ">>de<<"}});
  auto options = plain.options();
  options.tags_both_sides = true, options.target_language = "und";
  const auto codec = plain.with(options);
  EXPECT_EQ(codec.target_tag(), std::nullopt);
  const auto tagged = between_languages(codec, "fr", "cs");
  const auto line = test::training_lines().front();
  auto pieces = tagged.encode_source(line);
  EXPECT_EQ(tagged.prefix_length(pieces), 1);
  EXPECT_EQ(pieces.front(), tag_piece(codec.source(), "fr"));
  pieces.erase(pieces.begin());
  EXPECT_EQ(pieces, plain.encode_source(line));
  EXPECT_THAT(tagged.encode_source(" "), IsEmpty());
  EXPECT_EQ(tagged.target_tag(), tag_piece(codec.target(), "cs"));
  EXPECT_THAT(tagged.tagged_target({9}), ElementsAre(*tag_piece(codec.target(), "cs"), 9));
  EXPECT_THAT(tagged.encode_target(line), plain.encode_target(line)) << "of a phrase, say";
  EXPECT_EQ(into_language(codec, "cs").options().source_language, "de") << "the model's own";
  DataConfig data;
  data.source_language = "fr", data.target_language = "de";
  EXPECT_EQ(codec_for(codec, data).target_tag(), tag_piece(codec.target(), "de"));
}

TEST(LanguageTags, OfBothSidesAreThoseOfTheModel) {
  const auto one = codec_with({});
  auto options = one.options();
  options.tags_both_sides = true;
  const auto codec = codec_with({.tags = {">>cs<<", ">>fr<<"}}).with(options);
  EXPECT_EQ(message_of<Error>([&] { between_languages(codec, "", "fr"); }),
            "source language de: the model knows cs, fr; name one of these (--source-language)");
  EXPECT_EQ(message_of<Error>([&] { between_languages(codec, "cs", "de"); }),
            "target language de: the model knows cs, fr; name one of these (--target-language)");
  EXPECT_EQ(message_of<Error>([&] { between_languages(one, "cs", ""); }),
            "source language cs: the model is not told the language of its source; leave it out");
  EXPECT_EQ(between_languages(one, "de", "").target_tag(), std::nullopt);
}

TEST(LanguageTags, RefuseALanguageThatTheModelLacks) {
  const auto one = codec_with({}), several = codec_with({.tags = {">>cs<<", ">>fr<<"}});
  EXPECT_EQ(message_of<Error>([&] { into_language(several, "en"); }),
            "target language en: the model translates into cs, fr; name one of these");
  EXPECT_EQ(message_of<Error>([&] { into_language(one, "cs"); }),
            "target language cs: the model translates into en; name one of these");
  EXPECT_THAT(into_language(one, "en").prefix_ids(), IsEmpty());
  EXPECT_EQ(message_of<Error>([&] {
              into_language(codec_with({.tags = {">>zh_Hant<<"}, .normalization = "nmt_nfkc_cf"}), "zh_Hant");
            }),
            "target language zh_Hant: the vocabulary's normalisation changes its tag >>zh_Hant<<; write the code in "
            "lower case");
}

}  // namespace
}  // namespace nmt::language_tags_test
