#include "convert/formats/hugging_face_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "support.h"

namespace nmt::convert::hugging_face_folder_test {
namespace {

using test::message_of;

HuggingFaceConfig settings(nlohmann::json json, const char* place = "c.json") { return {place, std::move(json)}; }

DecodingConfig decoding_of(nlohmann::json json) { return hugging_face_decoding(settings(std::move(json))); }

TEST(HuggingFaceConfig, ReadsWhatIsThereAndNullAsMissing) {
  const auto config = settings({{"yes", true}, {"name", "x"}, {"list", {1}}, {"null", nullptr}});
  EXPECT_TRUE(config.flag("yes", false));
  EXPECT_EQ(config.text("name", ""), "x");
  EXPECT_EQ(config.list("list").dump(), "[1]");
  for (const char* key : {"null", "none"}) {
    EXPECT_TRUE(config.flag(key, true));
    EXPECT_EQ(config.text(key, "absent"), "absent");
    EXPECT_EQ(config.list(key).size(), 0);
    EXPECT_EQ(config.number_or(key, 7, 0, 9), 7);
    EXPECT_EQ(config.real_or(key, 0.5, 0, 9), 0.5);
  }
}

// transformers refuses most of them, and takes 0 for false.
TEST(HuggingFaceConfig, RefusesOtherKinds) {
  for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json(1), nlohmann::json("true"),
                                      nlohmann::json::array(), nlohmann::json::object()})
    EXPECT_EQ(message_of<Error>([&] {
                settings({{"a", value}}).flag("a", true);
              }),
              "c.json: a is neither true nor false")
        << value;
  EXPECT_EQ(message_of<Error>([] { settings({{"a", 1}}).text("a", ""); }), "c.json: a is no text");
  EXPECT_EQ(message_of<Error>([] { settings({{"a", 1}}).list("a"); }), "c.json: a is no list");
  EXPECT_EQ(message_of<Error>([] { settings(nlohmann::json::array()); }), "c.json: damaged: not a JSON object");
}

TEST(HuggingFaceConfig, NamesTheFileThatAFieldIsOf) {
  const auto both = settings({{"a", 1}, {"b", 1}}).with(settings({{"b", 2}}, "g.json"));
  const auto all = both.with(settings({{"c", 3}}, "task"));
  EXPECT_EQ(all.number("b"), 2);
  EXPECT_EQ(message_of<Error>([&] { all.flag("a", true); }), "c.json: a is neither true nor false");
  EXPECT_EQ(message_of<Error>([&] { all.flag("b", true); }), "g.json: b is neither true nor false");
  EXPECT_EQ(message_of<Error>([&] { all.flag("c", true); }), "task: c is neither true nor false");
  const auto over = settings({{"a", 1}}).with(both);
  EXPECT_EQ(message_of<Error>([&] { over.flag("b", true); }), "g.json: b is neither true nor false");
}

TEST(HuggingFaceLanguage, IsATextOrMissing) {
  const test::TemporaryDirectory folder;
  EXPECT_EQ(hugging_face_language(folder.path(), "source_lang", "src"), "src");
  const auto language = [&](const char* json) {
    std::ofstream(folder / "tokenizer_config.json") << json;
    return hugging_face_language(folder.path(), "source_lang", "src");
  };
  EXPECT_EQ(language(R"({"source_lang": "de/x"})"), "de-x");
  EXPECT_EQ(language(R"({"source_lang": null})"), "src");
  EXPECT_THAT(message_of<Error>([&] { language(R"({"source_lang": 1})"); }),
              testing::HasSubstr("tokenizer_config.json: source_lang is no text"));
}

TEST(HuggingFaceConfig, HasWholeNumbersWithinTheirLimits) {
  EXPECT_EQ(settings({{"a", 7}}).number("a"), 7);
  for (const nlohmann::json& value : {nlohmann::json(uint64_t{1} << 63), nlohmann::json(1.5), nlohmann::json("1")})
    EXPECT_THAT(message_of<Error>([&] {
                  settings({{"a", value}}).number("a");
                }),
                testing::HasSubstr("c.json: a is no whole number"))
        << value;
}

// The files are of transformers 5.23: MarianTokenizer and T5Tokenizer, add_tokens(), save_pretrained().
TEST(AddedTokens, StandInOneOfThreeFiles) {
  const test::TemporaryDirectory folder;
  EXPECT_TRUE(added_tokens(folder.path()).empty());
  std::ofstream(folder / "added_tokens.json") << R"({">>xx<<": 342, "{name}": 343})";
  std::ofstream(folder / "tokenizer_config.json")
      << R"({"added_tokens_decoder": {"0": {"content": "</s>", "special": true}, "342": {"content": ">>xx<<"}}})";
  std::ofstream(folder / "tokenizer.json")
      << R"({"model": {"vocab": [["<pad>", 0.0]]}, "added_tokens": [{"id": 300, "content": "{", "special": false}]})";
  EXPECT_THAT(added_tokens(folder.path()),
              testing::ElementsAre(testing::Pair(0, "</s>"), testing::Pair(300, "{"), testing::Pair(342, ">>xx<<"),
                                   testing::Pair(343, "{name}")));
  std::ofstream(folder / "tokenizer.json") << R"({"added_tokens": 7})";
  EXPECT_THAT(message_of<Error>([&] { added_tokens(folder.path()); }), testing::HasSubstr("added_tokens is no list"));
}

TEST(HuggingFaceDecoding, WhatTransformersDoesWhereNothingIsSaid) {
  const auto decoding = decoding_of(nlohmann::json::object());
  EXPECT_EQ(decoding.beam_size, 4);
  EXPECT_EQ(decoding.length_penalty, 1);
  EXPECT_EQ(decoding.length_penalty_form, LengthPenalty::kSimple);
  EXPECT_EQ(decoding.no_repeat_ngram_size, 0);
  EXPECT_EQ(decoding.repetition_penalty, 1);
  EXPECT_EQ(decoding.stopping, Stopping::kHeuristic);
}

TEST(HuggingFaceDecoding, TakesTheSearch) {
  const auto decoding = decoding_of({{"num_beams", 1000},
                                     {"length_penalty", 2},
                                     {"no_repeat_ngram_size", 3},
                                     {"repetition_penalty", 1.3},
                                     {"early_stopping", true}});
  EXPECT_EQ(decoding.beam_size, 1000);
  EXPECT_EQ(decoding.length_penalty, 2);
  EXPECT_EQ(decoding.no_repeat_ngram_size, 3);
  EXPECT_EQ(decoding.repetition_penalty, 1.3);
  EXPECT_EQ(decoding.stopping, Stopping::kFirst);
  for (const nlohmann::json& value : {nlohmann::json("never"), nlohmann::json(false), nlohmann::json()})
    EXPECT_EQ(decoding_of({{"early_stopping", value}}).stopping, Stopping::kHeuristic) << value;
}

TEST(HuggingFaceDecoding, TakesLimitsOfTheLength) {
  EXPECT_EQ(decoding_of({{"min_length", 20}}).min_length, 19) << "theirs counts the start token";
  EXPECT_EQ(decoding_of({{"min_length", 0}}).min_length, 0);
  EXPECT_EQ(decoding_of({{"min_length", 20}, {"min_new_tokens", 7}}).min_length, 7);
  EXPECT_EQ(decoding_of({{"max_length", 512}}).max_length, 0);
  const auto both = decoding_of({{"min_new_tokens", 50}, {"max_new_tokens", 30}});
  EXPECT_EQ(both.max_length, 30);
  EXPECT_EQ(both.min_length, 29) << "it never ends before";
}

TEST(HuggingFaceDecoding, TakesGroupsOfBeams) {
  const auto decoding = decoding_of({{"num_beams", 6}, {"num_beam_groups", 3}, {"diversity_penalty", 0.7}});
  EXPECT_EQ(decoding.diversity_groups, 3);
  EXPECT_EQ(decoding.diversity_strength, 0.7);
  EXPECT_EQ(decoding_of({{"num_beams", 6}, {"num_beam_groups", 1}}).diversity_strength, 0.5) << "ours, not read";
}

TEST(HuggingFaceDecoding, SamplesWhereThereIsOneBeam) {
  auto decoding = decoding_of({{"do_sample", true}, {"temperature", 0.5}, {"top_p", 0.9}});
  EXPECT_TRUE(decoding.sampling);
  EXPECT_EQ(decoding.beam_size, 1);
  EXPECT_EQ(decoding.temperature, 0.5);
  EXPECT_EQ(decoding.top_k, 50) << "theirs, where nothing is said";
  EXPECT_EQ(decoding.top_p, 0.9);
  EXPECT_EQ(decoding_of({{"do_sample", true}, {"top_k", nullptr}}).top_k, 0) << "all of them";
  decoding = decoding_of({{"do_sample", true}, {"num_beams", 4}, {"temperature", 0.5}});
  EXPECT_FALSE(decoding.sampling);
  EXPECT_EQ(decoding.temperature, 1);
}

TEST(HuggingFaceDecoding, NamesWhatIsNotRead) {
  const auto unread = [](nlohmann::json json) { return unread_decoding(settings(std::move(json)), {1}); };
  const auto line = [](const std::string& names) {
    return "c.json (or generation_config.json beside it): no option here for " + names +
           "; translations may differ from those of transformers";
  };
  EXPECT_EQ(unread({{"do_sample", true}, {"num_beams", 4}, {"encoder_no_repeat_ngram_size", 3}, {"typical_p", 0.9}}),
            line("encoder_no_repeat_ngram_size, typical_p, do_sample"));
  EXPECT_EQ(unread({{"num_beams", 4}, {"num_beam_groups", 3}}), line("num_beam_groups"));
  EXPECT_EQ(unread({{"pad_token_id", 58100}, {"bad_words_ids", {{58100}, {7}}}}), line("bad_words_ids"));
  EXPECT_EQ(unread({{"forced_bos_token_id", 0}}), line("forced_bos_token_id"));
}

// What folders of OPUS-MT hold, old ones with every default written out.
TEST(HuggingFaceDecoding, SaysNothingAboutFoldersAsTheyUsuallyAre) {
  EXPECT_EQ(unread_decoding(settings({{"bad_words_ids", {{58100}, {1}, {2}}},
                                      {"pad_token_id", 58100},
                                      {"bos_token_id", 2},
                                      {"decoder_start_token_id", 58100},
                                      {"forced_eos_token_id", 0},
                                      {"max_length", 512},
                                      {"num_beams", 6},
                                      {"renormalize_logits", true},
                                      {"do_sample", false},
                                      {"temperature", 0.7},
                                      {"top_k", 50},
                                      {"typical_p", 0.5},
                                      {"min_length", 0},
                                      {"num_beam_groups", 1},
                                      {"diversity_penalty", 0.0},
                                      {"encoder_no_repeat_ngram_size", 0},
                                      {"forced_bos_token_id", nullptr},
                                      {"suppress_tokens", nlohmann::json::array()},
                                      {"num_return_sequences", 1}}),
                            {1}),
            "");
}

TEST(HuggingFaceDecoding, RefusesWhatOurOptionsCannotBe) {
  const std::pair<const char*, nlohmann::json> cases[] = {
      {"num_beams", 0},          {"num_beams", 1001},          {"num_beams", 2.7},
      {"num_beams", "6"},        {"length_penalty", -1},       {"length_penalty", 10.5},
      {"length_penalty", "1"},   {"no_repeat_ngram_size", -2}, {"no_repeat_ngram_size", 1.5},
      {"repetition_penalty", 0}, {"repetition_penalty", "x"},  {"repetition_penalty", true},
      {"early_stopping", 1},     {"early_stopping", "always"}};
  for (const auto& [key, value] : cases)
    EXPECT_THAT(message_of<Error>([&] {
                  decoding_of({{key, value}});
                }),
                testing::StartsWith(std::string("c.json: ") + key))
        << value;
}

TEST(HuggingFaceBans, AWordOfThisTokenAlone) {
  const auto words = settings({{"bad_words_ids", {{7}, {1, 2}, {0}}}});
  EXPECT_TRUE(hugging_face_bans(words, 7));
  EXPECT_FALSE(hugging_face_bans(words, 1)) << "only before 2";
  EXPECT_FALSE(hugging_face_bans(settings(nlohmann::json::object()), 7));
  EXPECT_FALSE(hugging_face_bans(settings({{"bad_words_ids", nullptr}}), 7));
  EXPECT_EQ(message_of<Error>([] {
              hugging_face_bans(settings({{"bad_words_ids", 7}}), 7);
            }),
            "c.json: bad_words_ids is no list");
}

}  // namespace
}  // namespace nmt::convert::hugging_face_folder_test
