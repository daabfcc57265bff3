#include "server/models/model_pool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "config/rules/consistency.h"
#include "models/formula_weights.h"
#include "models/interface/safetensors.h"
#include "spdlog/sinks/ostream_sink.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace fs = std::filesystem;

namespace nmt::model_pool_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const std::vector<LanguagePair>& pairs) {
  std::vector<std::string> names;
  for (const auto& pair : pairs) names.push_back(pair.name());
  return names;
}

class ModelPoolTest : public testing::Test {
 protected:
  static constexpr const char* kSmall =
      "model: {d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2}, data: {maxlen1: 20, maxlen2: 20}";

  void SetUp() override {
    save(parse_config(fmt::format("{{{}, decoding: {{beam_size: 3}}}}", kSmall), "test").config);
  }
  void save(const Config& config, TextCodec::Options options = {}) {
    options.source_language = "de", options.target_language = "en";
    const auto bytes = train_sentencepiece(
        test::training_lines(), {.vocab_size = 60, .character_coverage = 1.0, .user_symbols = {">>cs<<", ">>fr<<"}});
    const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
    fs::remove_all(folder_ / "model");
    fs::create_directory(folder_ / "model");
    save_model(folder_ / "model", *test::formula_model(config.model, 60, 60), config,
               TextCodec(std::move(options), tokenizer, tokenizer), nlohmann::json::object());
  }
  ServiceModel model(const std::string& source = "", const std::string& target = "") {
    return {.directories = {folder_ / "model"}, .source = source, .target = target};
  }
  /// A folder with the same model.
  ServiceModel copy(const std::string& name, const std::string& source, const std::string& target) {
    fs::copy(folder_ / "model", folder_ / name);
    return {.directories = {folder_ / name}, .source = source, .target = target};
  }
  std::string translated(ModelPool& pool, const std::string& source, const std::string& target) {
    const Request request{.source = test::training_lines().front()};
    return pool.translations({source, target}, {&request, 1}, {}).at(0).text;
  }
  std::string refusal(const ServiceConfig& config) {
    try {
      ModelPool(config, options_, log_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static int count(const std::string& text, const std::string& part) {
    int count = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  }

  test::TemporaryDirectory folder_;
  std::ostringstream said_;
  Logger log_{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_)};
  ModelPoolOptions options_{.device = "cpu"};
};

TEST_F(ModelPoolTest, AModelKnowsItsLanguages) {
  ModelPool pool({.models = {model()}}, options_, log_);
  EXPECT_THAT(names(pool.pairs()), ElementsAre("de-en"));
  EXPECT_EQ(pool.max_n_best(), 3);
  EXPECT_NE(translated(pool, "de", "en"), "");
  EXPECT_THROW(translated(pool, "de", "fr"), Error);
}

TEST_F(ModelPoolTest, SplitsWhatAModelOfSentencesIsAsked) {
  const auto parts = [&](const std::string& source, std::optional<bool> asked, ServiceModel served = {}) {
    if (served.directories.empty()) served = model();
    ModelPool pool({.models = {served}}, options_, log_);
    const Request request{.source = source, .split_sentences = asked};
    return pool.translations(pool.pairs().front(), {&request, 1}, {}).at(0).alternatives.at(0).parts.size();
  };
  const std::string two = "Es ist gut. Er kam.";
  EXPECT_EQ(parts(two, {}), 2u);
  EXPECT_EQ(parts(two, false), 1u) << "as the client says";
  options_.split_sentences = false;
  EXPECT_EQ(parts(two, {}), 1u) << "as the service says";
  EXPECT_EQ(parts(two, true), 2u);
  options_.split_sentences = {};
  EXPECT_EQ(parts("Am 3. Mai. Im Mai.", {}), 2u);
  EXPECT_EQ(parts("Am 3. Mai. Im Mai.", {}, model("en", "fr")), 3u) << "by the rules of the language that is served";
  auto config = parse_config(fmt::format("{{{}}}", kSmall), "test").config;
  config.data.lines = TrainedLines::kParagraphs;
  save(config);
  EXPECT_EQ(parts(two, {}), 1u) << "as the model says";
  options_.split_sentences = true;
  EXPECT_EQ(parts(two, {}), 2u);
}

TEST_F(ModelPoolTest, GoesThroughAThirdLanguage) {
  ModelPool pool({.models = {model(), model("en", "fr"), model("en", "de")}, .pivots = {"en"}}, options_, log_);
  EXPECT_THAT(names(pool.pairs()), ElementsAre("de-en", "en-fr", "en-de", "de-fr"));
  const ModelSet alone({.directories = {folder_ / "model"}, .device = "cpu"});
  const Translator translator(alone.members(), alone.options());
  const auto once = translator.translate(std::vector{test::training_lines().front()})[0].text;
  EXPECT_EQ(translated(pool, "de", "en"), once);
  EXPECT_EQ(translated(pool, "de", "fr"), translator.translate(std::vector{once})[0].text);
  const Request requests[] = {{.source = ""},
                              {.source = test::training_lines()[0], .n_best = 3},
                              {.source = test::training_lines()[0], .alignment = true}};
  const auto found = pool.translations({"de", "fr"}, requests, {});
  EXPECT_TRUE(found[0].alternatives.empty());
  EXPECT_EQ(found[1].alternatives.size(), 3u);
  const auto& aligned = found[2].alternatives.at(0).aligned;
  ASSERT_TRUE(aligned && !aligned->empty());
  for (const auto& words : *aligned) {
    EXPECT_LE(words.source_end, requests[2].source.size());
    EXPECT_LE(words.target_end, found[2].text.size());
  }
  EXPECT_TRUE(pool.translations({"de", "fr"}, requests, [] { return true; }).empty()) << "nobody waits";
}

TEST_F(ModelPoolTest, HasNoMoreModelsThanMemory) {
  int64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder_ / "model")) bytes += static_cast<int64_t>(file.file_size());
  ModelPool pool({.models = {model(), copy("two", "en", "fr"), copy("three", "en", "de")}, .memory = 2 * bytes},
                 options_, log_);
  EXPECT_EQ(said_.str(), "") << "none is loaded yet";
  EXPECT_EQ(pool.max_n_best(), 3);
  const auto first = translated(pool, "de", "en");
  translated(pool, "en", "fr");
  translated(pool, "de", "en");
  EXPECT_EQ(count(said_.str(), "leaves the memory"), 0);
  translated(pool, "en", "de");
  EXPECT_THAT(said_.str(), HasSubstr("en-fr: leaves the memory"));
  EXPECT_EQ(translated(pool, "de", "en"), first);
  translated(pool, "en", "fr");
  EXPECT_THAT(said_.str(), HasSubstr("en-de: leaves the memory"));
  EXPECT_EQ(count(said_.str(), "loaded in"), 4);
  EXPECT_EQ(
      refusal({.models = {model()}, .memory = bytes - 1, .places = {{"memory", "s.yaml:2: memory: "}}}),
      fmt::format("s.yaml:2: memory: the model {} takes {} bytes, more than the {} that all models may take; give more",
                  (folder_ / "model").string(), bytes, bytes - 1));
}

TEST_F(ModelPoolTest, RefusesLanguagesThatDoNothing) {
  auto second = model();
  second.place = "s.yaml:4: ";
  EXPECT_THAT(refusal({.models = {model(), second}}), HasSubstr("s.yaml:4: two models translate from de to en"));
  EXPECT_EQ(
      refusal({.models = {model()}, .aliases = {{"no", "nb"}}, .places = {{"aliases no", "s.yaml:3: aliases: "}}}),
      "s.yaml:3: aliases: no stands for nb, which no model translates; name one of de, en");
  EXPECT_THAT(refusal({.models = {model()}, .aliases = {{"de", "en"}}}),
              HasSubstr("de is a language of the models itself"));
  EXPECT_THAT(refusal({.models = {model()}, .aliases = {{"DE", "en"}}}),
              HasSubstr("DE is a language of the models itself"))
      << "clients may write de so";
  EXPECT_EQ(refusal({.models = {model()}, .aliases = {{"eng", "EN"}}}), "");
  for (const char* pivot : {"xx", "en", "de"})
    EXPECT_THAT(refusal({.models = {model()}, .pivots = {pivot}}), HasSubstr(fmt::format("can go through {}", pivot)));
  EXPECT_EQ(refusal({.models = {model(), model("en", "fr")}, .pivots = {"en"}, .aliases = {{"fra", "fr"}}}), "");
}

// A model for several target languages, of which a text before each sentence says which one.
TEST_F(ModelPoolTest, APrefixChoosesTheTargetLanguage) {
  for (const bool limited : {false, true}) {
    said_.str("");
    auto czech = model("de", "cs"), french = model("de", "fr");
    czech.source_prefix = ">>cs<< ";
    french.source_prefix = ">>fr<<";
    french.place = "s.yaml:7: ";
    ModelPool pool({.models = {model(), czech, french}, .memory = limited ? int64_t{1} << 30 : 0}, options_, log_);
    EXPECT_THAT(names(pool.pairs()), ElementsAre("de-en", "de-cs", "de-fr"));
    const auto answer = [&](const std::string& text, const std::string& target) {
      const Request request{.source = text, .alignment = true};
      return pool.translations({"de", target}, {&request, 1}, {}).at(0);
    };
    const auto text = test::training_lines().front();
    for (const std::string target : {"cs", "fr"}) {
      const auto by_prefix = answer(text, target), typed = answer(">>" + target + "<< " + text, "en");
      EXPECT_EQ(by_prefix.text, typed.text);
      EXPECT_EQ(by_prefix.source_tokens, typed.source_tokens);
      for (const auto& words : by_prefix.alternatives.at(0).aligned.value()) EXPECT_LE(words.source_end, text.size());
    }
    EXPECT_NE(answer(text, "en").source_tokens, answer(text, "cs").source_tokens);
    EXPECT_EQ(count(said_.str(), "loaded in"), 1) << "they share their weights";
    french.source_prefix = ">>xx<< ";
    EXPECT_EQ(refusal({.models = {czech, french}, .memory = limited ? int64_t{1} << 30 : 0}),
              "s.yaml:7: prefix '>>xx<< ': the model's source vocabulary does not have it; write it as in training");
  }
}

TEST_F(ModelPoolTest, AModelOfSeveralLanguagesServesAllOfThem) {
  const std::string data = "train_tsv: [a, b, c], languages: [de-cs, en-cs, en-fr]";
  const auto save_with = [&](const std::string& more) {
    save(parse_config(fmt::format("{{model: {{d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2}}, data: {{maxlen1: "
                                  "20, maxlen2: 20, {}{}}}}}",
                                  data, more),
                      "test")
             .config);
  };
  save_with(", tags: target");
  ModelPool pool({.models = {model()}}, options_, log_);
  EXPECT_THAT(names(pool.pairs()), ElementsAre("de-cs", "de-fr", "en-cs", "en-fr")) << "de-fr without such text";
  auto typed_czech = model("de", "xx"), typed_french = model("de", "yy");
  typed_czech.source_prefix = ">>cs<< ", typed_french.source_prefix = ">>fr<< ";
  ModelPool typed({.models = {typed_czech, typed_french}}, options_, log_);
  EXPECT_EQ(translated(pool, "de", "cs"), translated(typed, "de", "xx"));
  EXPECT_EQ(translated(pool, "de", "fr"), translated(typed, "de", "yy"));
  EXPECT_NE(translated(pool, "de", "cs"), translated(pool, "de", "fr"));
  EXPECT_THAT(names(ModelPool({.models = {model("en", "fr")}}, options_, log_).pairs()), ElementsAre("en-fr"));
  auto wanted = model();
  wanted.changed = [](Config config) {
    config.decoding.target_language = "fr";
    return config;
  };
  EXPECT_THAT(names(ModelPool({.models = {wanted}}, options_, log_).pairs()), ElementsAre("de-fr", "en-fr"));
  EXPECT_THAT(refusal({.models = {model("", "es")}}),
              HasSubstr("target language es: the model translates into cs, fr"));
  save_with("");
  EXPECT_THAT(names(ModelPool({.models = {model()}}, options_, log_).pairs()), ElementsAre("de-cs", "en-cs"));
}

TEST_F(ModelPoolTest, AModelThatIsToldBothLanguagesServesAllPairs) {
  save(parse_config(fmt::format("{{{}}}", kSmall), "test").config, {.tags_both_sides = true});
  ModelPool pool({.models = {model()}}, options_, log_);
  EXPECT_THAT(names(pool.pairs()), ElementsAre("cs-fr", "fr-cs"));
  EXPECT_NE(translated(pool, "cs", "fr"), translated(pool, "fr", "cs"));
  EXPECT_THAT(names(ModelPool({.models = {model("fr")}}, options_, log_).pairs()), ElementsAre("fr-cs"));
  auto wanted = model();
  wanted.changed = [](Config config) {
    config.decoding.source_language = "cs";
    return config;
  };
  EXPECT_THAT(names(ModelPool({.models = {wanted}}, options_, log_).pairs()), ElementsAre("cs-fr"));
  EXPECT_THAT(refusal({.models = {model("es", "fr")}}), HasSubstr("source language es: the model knows cs, fr"));
}

// Each request would fail: also where the models are loaded by the first that asks for them.
TEST_F(ModelPoolTest, RefusesAnAlignmentLayerThatAModelLacks) {
  for (const int64_t memory : {0, 1 << 30}) {
    auto wrong = model();
    wrong.changed = [](Config config) {
      config.decoding.alignment_layer = 9;
      return config;
    };
    EXPECT_THAT(refusal({.models = {wrong}, .memory = memory}),
                testing::StartsWith((folder_ / "model").string() + ": decoding.alignment_layer 9: the decoder has 1"));
    wrong.place = "s.yaml:4: ";
    EXPECT_THAT(refusal({.models = {wrong}, .memory = memory}),
                testing::StartsWith("s.yaml:4: decoding.alignment_layer 9: the decoder has 1"));
    wrong.changed = [](Config config) {
      config.decoding.alignment_head = 9;
      return config;
    };
    EXPECT_THAT(refusal({.models = {wrong}, .memory = memory}),
                HasSubstr("decoding.alignment_head 9: the decoder has 2"));
  }
}

TEST_F(ModelPoolTest, TheServiceChangesAModel) {
  auto narrow = model();
  narrow.changed = [](Config config) {
    config.decoding.beam_size = 1;
    return config;
  };
  ModelPool pool({.models = {narrow}}, options_, log_);
  EXPECT_EQ(pool.max_n_best(), 1);
}

// What the command line says there contradicts the defaults, but not what this model says.
TEST_F(ModelPoolTest, TheServiceMayChangeWhatTheModelAllows) {
  struct Case {
    const char* own;
    std::function<void(DecodingConfig&)> change;
    int64_t n_best;
  };
  const Case cases[] = {
      {"{beam_size: 4, diversity_groups: 2}", [](DecodingConfig& decoding) { decoding.diversity_strength = 1; }, 4},
      {"{beam_size: 1, sampling: true}", [](DecodingConfig& decoding) { decoding.temperature = 0.5; }, 1}};
  for (const Case& one : cases) {
    save(parse_config(fmt::format("{{{}, decoding: {}}}", kSmall, one.own), "test").config);
    options_.changed = [&one](Config config) {
      one.change(config.decoding);
      check_consistency(config, "command line");
      return config;
    };
    EXPECT_THROW(options_.changed(Config()), Error) << one.own;
    EXPECT_EQ(ModelPool({.models = {model()}}, options_, log_).max_n_best(), one.n_best);
  }
}

TEST_F(ModelPoolTest, HasTheAdaptersOfAModelBesideIt) {
  const auto directory = folder_ / "model";
  const std::string matrix = "decoder_0.feed_forward.inner.weight";
  const auto adapter = [&](const std::string& name, const std::string& base, double scale) {
    save_safetensors(folder_ / name,
                     {{factor_name(matrix, "lora_A"), torch::ones({1, 16})},
                      {factor_name(matrix, "lora_B"), torch::linspace(-scale, scale, 32).unsqueeze(1)}},
                     adapter_metadata(base, 1, 1));
    return folder_ / name;
  };
  const auto base = sha256_of_file(directory / "model.safetensors");
  auto law = model("de", "en-law"), news = model("de", "en-news"), foreign = model("de", "en-foreign");
  law.adapter = adapter("law", base, 1);
  news.adapter = adapter("news", base, 2);
  ModelPool pool({.models = {model(), law, news}}, options_, log_);
  for (const auto& one : {law, news}) {
    const ModelSet alone({.directories = {directory}, .device = "cpu", .adapter = one.adapter});
    const auto expected =
        Translator(alone.members(), alone.options()).translate(std::vector{test::training_lines()[0]});
    EXPECT_EQ(translated(pool, "de", one.target), expected[0].text);
    EXPECT_NE(translated(pool, "de", one.target), translated(pool, "de", "en"));
  }
  foreign.adapter = adapter("foreign", "0123", 1);
  foreign.place = "s.yaml:4: ";
  EXPECT_THAT(refusal({.models = {model(), foreign}, .memory = 1 << 30}),
              HasSubstr("s.yaml:4: " + foreign.adapter.string() + ": is for a model whose weights have the SHA-256"));
}

TEST_F(ModelPoolTest, RefusesWhatIsNoModel) {
  EXPECT_THROW(ModelPool({.models = {{.directories = {folder_.path()}}}}, options_, log_), Error);
  for (const std::string place : {"", "s.yaml:4: "}) {
    const auto said = refusal({.models = {{.directories = {folder_ / "none"}, .place = place}}});
    EXPECT_THAT(said, testing::StartsWith(place + (folder_ / "none").string()));
    EXPECT_EQ(count(said, "none"), 1) << said;
  }
}

}  // namespace
}  // namespace nmt::model_pool_test
