#include "config/languages.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "config/loading/schema.h"
#include "support.h"

namespace nmt::languages_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DataConfig data_of(const std::string& rest) {
  return parse_config(
             "data: {source_language: de, target_language: en, train1: [a, b, c], train2: [d, e, f]" + rest + "}", "f")
      .config.data;
}

std::string pair_of(const DataConfig& data) { return data.source_language + "-" + data.target_language; }

TEST(Languages, AreThoseOfTheCorpusOrTheSet) {
  const auto plain = data_of(""), several = data_of(", languages: [de-en, fr-zh_Hant, de-cs]");
  EXPECT_EQ(pair_of(of_corpus(plain, 2)), "de-en");
  EXPECT_EQ(pair_of(of_corpus(several, 1)), "fr-zh_Hant");
  EXPECT_EQ(pair_of(of_corpus(several, 2)), "de-cs");
  EXPECT_EQ(pair_of(of_set(several, {.languages = "cs-de"})), "cs-de");
  EXPECT_EQ(pair_of(of_set(several, {})), "de-en");
}

TEST(Languages, OfTagsAreTheTargetsEachOnce) {
  EXPECT_THAT(tagged_languages(data_of(", languages: [de-en, fr-cs, fr-en], tags: target")), ElementsAre("en", "cs"));
  EXPECT_THAT(tagged_languages(data_of(", languages: [de-en, fr-cs, fr-en]")), IsEmpty());
}

TEST(Languages, SayWhatIsWrong) {
  const auto refusal = [](const std::string& rest) { return test::message_of<Error>([&] { data_of(rest); }); };
  EXPECT_EQ(refusal(", languages: [de-en]"),
            "f:1: data.languages: has 1 pairs of languages for 3 training corpora (data.train1, then train_tsv)");
  for (const char* pair : {"de", "de-", "-en", "pt-BR-en", "de en"})
    EXPECT_THAT(refusal(std::string(", languages: [de-en, de-en, '") + pair + "']"), HasSubstr("must be two language"))
        << pair;
  EXPECT_EQ(refusal(", tags: target"),
            "f:1: data.tags: are for several target languages; name those of the corpora in data.languages, or leave "
            "the tags out");
  const std::string tags = ", tags: target, languages: [de-en, de-cs, de-fr]";
  EXPECT_NO_THROW(data_of(tags));
  EXPECT_THAT(refusal(tags + ", source_prefix: x"), HasSubstr("data.tags: stand where data.source_prefix does"));
  EXPECT_THAT(refusal(tags + ", tokenizer: words"), HasSubstr("data.tags: are SentencePiece's"));
  EXPECT_EQ(refusal(tags + ", eval: [{name: x, source: g, target: h, languages: en-es}]"),
            "f:1: data.eval: g is a set into es, which no training corpus has; write {name: ..., languages: de-en, "
            "...} in data.eval and data.test");
  EXPECT_THAT(refusal(tags + ", user_symbols: [x], vocab_size: 8"),
              HasSubstr("leaves no room for pieces beside the 8 fixed ones"));
}

}  // namespace
}  // namespace nmt::languages_test
