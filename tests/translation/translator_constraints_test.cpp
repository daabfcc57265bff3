// What is wanted of lines in several parts, and of lines from which something is cut out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "search/scripted_model.h"
#include "text/terms.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::translator_constraints_test {
namespace {

using test::Ids;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kWords = {"a",   "Ein", "Hund",          "bellt.", "Die",   "Katze",
                                         "und", "die", "schl\u00E4ft.", "hound",  "feline"};

/// Says each word again: the next of the source with probability 0.8, </s> 0.1, "a" 0.1; others with next to none.
std::vector<double> echo(const Ids& source, const Ids& prefix) {
  std::vector<double> p(4 + kWords.size(), 0.001);
  p[test::kEnd] = 0.1;
  p[test::kA] += 0.1;
  p[prefix.size() < source.size() ? source[prefix.size()] : test::kEnd] += 0.8;
  return p;
}

/// It has no attention to place anything by.
class PlainModel final : public test::ScriptedModel {
 public:
  using ScriptedModel::ScriptedModel;
  torch::Tensor forward(const TensorBatch&, ForwardContext&) override { return {}; }
};

class TranslatorConstraints : public testing::Test {
 protected:
  Translation translate(const Request& request, TranslatorOptions options = {}) {
    return Translator(model_, codec_, std::move(options)).translate({&request, 1}).front();
  }
  Translation by_sentence(const Request& request, int64_t beam = 5, int64_t n_best = 1) {
    return translate(request, {.search = {{.beam_size = beam}, n_best}, .split_sentences = true});
  }

  PlainModel model_{static_cast<int64_t>(4 + kWords.size()), echo};
  TextCodec codec_ = test::word_codec(kWords);
};

const std::string kTwo = "Ein Hund bellt. Die Katze und die Katze schl\u00E4ft.";

TermOptions glossary(const std::string& tsv, bool placeholders = false) {
  return {.glossary = std::make_shared<const Glossary>(Glossary::parse(tsv, "terms")),
          .keep_placeholders = placeholders};
}
const TermOptions kPlaceholders = {.keep_placeholders = true};

/// The translation of one part.
std::string part_of(const Translation& found, size_t part, const TextCodec& codec) {
  return codec.decode_target(found.alternatives.at(0).parts.at(part).target);
}

TEST_F(TranslatorConstraints, APrefixGoesOnInTheNextPart) {
  for (const std::string prefix : {"Ein", "Ein Hund bellt.", "Ein Hund bellt. Die Katze", "Ein Hund bellt. Die Hund"}) {
    const auto found = by_sentence({.source = kTwo, .prefix = prefix});
    EXPECT_THAT(found.text, StartsWith(prefix));
    EXPECT_EQ(found.alternatives.at(0).parts.size(), 2u);
    EXPECT_EQ(part_of(found, 0, codec_), "Ein Hund bellt.");
    EXPECT_THAT(part_of(found, 1, codec_), EndsWith("und die Katze schl\u00E4ft."));
    EXPECT_TRUE(found.alternatives[0].meets_constraints);
    EXPECT_TRUE(found.alternatives[0].finished);
  }
}

TEST_F(TranslatorConstraints, WhatTheUsersPatternsMatchStays) {
  const TranslatorOptions own = {.search = {{.placeholders = {"%\\w+%"}}}};
  EXPECT_EQ(translate({.source = "Ein %from% bellt."}, own).text, "Ein %from% bellt.");
  EXPECT_EQ(translate({.source = "Ein %from% {x} bellt.", .terms = kPlaceholders}, own).text, "Ein %from% {x} bellt.");
  EXPECT_THAT(translate({.source = "Ein %from% bellt."}).text, testing::Not(testing::HasSubstr("%from%")));
}

TEST_F(TranslatorConstraints, TheNBestDifferWhereThePrefixEnds) {
  const auto found =
      by_sentence({.source = kTwo, .prefix = "Ein Hund bellt. Die", .n_best = 2, .distinct = true}, 3, 2);
  ASSERT_EQ(found.alternatives.size(), 2u);
  EXPECT_EQ(found.alternatives[0].text, kTwo);
  EXPECT_THAT(found.alternatives[1].text, StartsWith("Ein Hund bellt. Die"));
  const auto first = by_sentence({.source = kTwo, .prefix = "Ein", .n_best = 2, .distinct = true}, 3, 2);
  ASSERT_EQ(first.alternatives.size(), 2u);
  for (const auto& one : first.alternatives) EXPECT_THAT(one.text, EndsWith("Die Katze und die Katze schl\u00E4ft."));
}

TEST_F(TranslatorConstraints, APrefixOfAHalvedSentenceGoesOnByLength) {
  const auto found =
      translate({.source = "Hund und Katze und", .prefix = "Katze Katze die die"}, {.max_source_length = 2});
  ASSERT_EQ(found.alternatives.at(0).parts.size(), 2u);
  EXPECT_EQ(found.text, "Katze Katze die die") << "two words of each part";
}

TEST_F(TranslatorConstraints, ATermStandsInThePartThatHasIt) {
  const auto found = by_sentence({.source = kTwo, .terms = glossary("Katze\tfeline\nHund\thound\n")}, 8);
  EXPECT_THAT(part_of(found, 0, codec_), HasSubstr("hound"));
  EXPECT_THAT(part_of(found, 0, codec_), Not(HasSubstr("feline")));
  EXPECT_THAT(part_of(found, 1, codec_), HasSubstr("feline"));
  EXPECT_THAT(part_of(found, 1, codec_), Not(HasSubstr("hound")));
}

TEST_F(TranslatorConstraints, AnyPhraseGoesToTheLongestPartThatIsOpen) {
  const auto found = by_sentence({.source = kTwo, .must = {"feline"}}, 8);
  EXPECT_THAT(part_of(found, 1, codec_), HasSubstr("feline"));
  EXPECT_THAT(part_of(found, 0, codec_), Not(HasSubstr("feline")));
  const std::string turned = "Die Katze und die Katze schl\u00E4ft. Ein Hund bellt.";
  const auto other =
      by_sentence({.source = turned, .prefix = "Die Katze schl\u00E4ft. Ein", .must = {"hound", "Katze"}}, 8);
  EXPECT_EQ(part_of(other, 0, codec_), "Die Katze schl\u00E4ft.");
  EXPECT_THAT(part_of(other, 1, codec_), HasSubstr("hound"));
  EXPECT_THAT(part_of(other, 1, codec_), Not(HasSubstr("Katze"))) << "the prefix has it";
}

TEST_F(TranslatorConstraints, APlaceholderStandsWhereThePrefixHasIt) {
  for (const std::string prefix : {"Ein Hund {name}", "{name} Ein", "Ein {name} Hund", "Ein {name}"}) {
    const auto found = translate({.source = "Ein {name} Hund bellt.", .prefix = prefix, .terms = kPlaceholders});
    EXPECT_THAT(found.text, StartsWith(prefix));
    EXPECT_EQ(found.text.find("{name}"), found.text.rfind("{name}")) << found.text;
    EXPECT_THAT(found.text, Not(HasSubstr("<unk>")));
    EXPECT_THAT(found.text, EndsWith("bellt."));
    EXPECT_TRUE(found.alternatives.at(0).meets_constraints) << found.text;
  }
}

TEST_F(TranslatorConstraints, APlaceholderDoesNotGoBeforeThePrefix) {
  const auto found = translate({.source = "{name} Ein Hund bellt.", .prefix = "Ein Hund", .terms = kPlaceholders});
  EXPECT_EQ(found.text, "Ein Hund {name} bellt.");
  EXPECT_TRUE(found.alternatives.at(0).meets_constraints);
}

TEST_F(TranslatorConstraints, ConstraintsAreJudgedByTheWholeText) {
  const auto must = [&](const std::string& phrase) {
    return translate({.source = "Ein {name} Hund bellt.", .must = {phrase}, .terms = kPlaceholders});
  };
  EXPECT_TRUE(must("{name}").alternatives.at(0).meets_constraints);
  EXPECT_EQ(must("{name}").text, "Ein {name} Hund bellt.");
  EXPECT_TRUE(must("Ein {name} Hund").alternatives.at(0).meets_constraints);
  EXPECT_FALSE(must("Katze {name}").alternatives.at(0).meets_constraints) << must("Katze {name}").text;
  EXPECT_THAT(must("Katze {name}").text, HasSubstr("Katze"));
  EXPECT_FALSE(must("{other}").alternatives.at(0).meets_constraints);
  const auto signs = translate({.source = "{name}: %s", .prefix = "Ein", .must = {"Hund"}, .terms = kPlaceholders});
  EXPECT_EQ(signs.text, "{name}: %s");
  EXPECT_FALSE(signs.alternatives.at(0).meets_constraints) << "nothing is translated";
}

// Translations with one text: three lists of pieces of which two write the same.
TEST_F(TranslatorConstraints, NoTextComesTwice) {
  const std::vector<std::string> words = {"a", "b", "a b"};
  const auto codec = test::word_codec(words);
  test::ScriptedModel model(7, [](const Ids&, const Ids& prefix) {
    if (prefix.empty()) return std::vector<double>{0, 0, 0, 0, 0.4, 0.25, 0.35};  // "a", "b" or "a b"
    if (prefix == Ids{4}) return std::vector<double>{0, 0, 0, 0, 0, 1, 0};        // "a" "b"
    return std::vector<double>{0, 0, 0, 1, 0, 0, 0};
  });
  const auto translated = [&](bool sampling) {
    return Translator(model, codec,
                      {.search = {{.beam_size = sampling ? 1 : 3, .length_penalty = 0, .sampling = sampling}, 3}})
        .translate(std::vector<std::string>{"a"})
        .front();
  };
  const auto found = translated(false);
  ASSERT_EQ(found.alternatives.size(), 2u);
  EXPECT_EQ(found.alternatives[0].text, "a b");
  EXPECT_NEAR(found.alternatives[0].log_probability, std::log(0.4), 1e-5) << "the better one of them";
  EXPECT_EQ(found.alternatives[1].text, "b");
  EXPECT_EQ(translated(true).alternatives.size(), 3u) << "samples are drawn one by one";
}

}  // namespace
}  // namespace nmt::translator_constraints_test
