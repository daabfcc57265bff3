#include "nmt/translator.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <memory>
#include <numeric>
#include <thread>

#include "base/files/adapter.h"
#include "base/files/file.h"
#include "data/lexicon.h"
#include "evaluation/tiny_model.h"
#include "library/inner/translator_state.h"
#include "models/interface/safetensors.h"
#include "support.h"
#include "tensor_support.h"
#include "translation/model_set.h"

namespace nmt::api_translator_test {
namespace {

namespace fs = std::filesystem;
using api::TranslateOptions;
using api::Translation;
using api::Translator;
using api::TranslatorOptions;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

class ApiTranslator : public testing::Test {
 protected:
  ApiTranslator() : model_(test::save_tiny_model(folder_ / "model", test::kTinyTransformer)) {}

  Translator make(int threads = 1) const {
    TranslatorOptions options{{model_.string()}};
    options.device = "cpu";
    options.threads = threads;
    return Translator(options);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  test::TemporaryDirectory folder_;
  const fs::path model_;
  const std::vector<std::string> lines_ = {"a b c", "", "h g f e d", "a", "b b b", "c d e a", "g"};
};

std::vector<std::string> texts(const std::vector<Translation>& translations) {
  std::vector<std::string> result;
  for (const auto& translation : translations) result.push_back(translation.text);
  return result;
}

TEST_F(ApiTranslator, TranslatesAsTheInnerTranslatorDoes) {
  const ModelSet models({.directories = {model_}, .device = "cpu"});
  auto options = models.options();
  options.search.n_best = 2;
  options.search.attention = true;
  const nmt::Translator inner(models.members(), options);
  const auto expected = inner.translate(lines_);
  TranslateOptions wanted;
  wanted.n_best = 2;
  wanted.token_scores = wanted.alignment = wanted.attention = true;
  const auto found = make().translate(lines_, wanted);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].text, expected[i].text);
    EXPECT_EQ(found[i].source_tokens, expected[i].source_tokens);
    ASSERT_EQ(found[i].alternatives.size(), expected[i].alternatives.size());
    for (size_t k = 0; k < found[i].alternatives.size(); ++k) {
      const auto& mine = found[i].alternatives[k];
      const auto& inner_one = expected[i].alternatives[k];
      EXPECT_EQ(mine.text, inner_one.text);
      EXPECT_EQ(mine.score, inner_one.score);
      EXPECT_EQ(mine.token_scores, inner_one.token_log_probabilities);
      EXPECT_EQ(static_cast<int64_t>(mine.pieces.size()), mine.tokens);
      ASSERT_EQ(mine.attention.size(), 1u);
      const auto& matrix = mine.attention.front();
      EXPECT_EQ(static_cast<int64_t>(matrix.rows.size()), mine.tokens);
      EXPECT_EQ(static_cast<int64_t>(matrix.columns.size()), found[i].source_tokens);
      EXPECT_EQ(matrix.weights.size(), matrix.rows.size() * matrix.columns.size());
      EXPECT_EQ(mine.alignment.empty(), mine.text.empty());
    }
  }
}

TEST_F(ApiTranslator, AnAdapterIsAddedToTheModel) {
  const std::string matrix = "encoder_0.feed_forward.inner.weight";
  const auto file = folder_ / "adapter.safetensors";
  save_safetensors(file,
                   {{factor_name(matrix, "lora_A"), test::wave({2, 16}, 1, 1)},
                    {factor_name(matrix, "lora_B"), test::wave({32, 2}, 1, 5)}},
                   adapter_metadata(sha256_of_file(model_ / "model.safetensors"), 2, 6));
  TranslatorOptions options{{model_.string()}};
  options.device = "cpu";
  options.adapter = file.string();
  const ModelSet models({.directories = {model_}, .device = "cpu", .adapter = file});
  const auto expected = nmt::Translator(models.members(), models.options()).translate(lines_);
  const auto found = Translator(options).translate(lines_), without = make().translate(lines_);
  for (size_t i = 0; i < lines_.size(); ++i) {
    EXPECT_EQ(found[i].text, expected[i].text);
    if (lines_[i].empty()) continue;
    EXPECT_EQ(found[i].alternatives[0].score, expected[i].alternatives[0].score);
    EXPECT_NE(found[i].alternatives[0].score, without[i].alternatives[0].score);
  }
  options.models.push_back(model_.string());
  EXPECT_THAT(message_of<api::UserError>([&] { Translator{options}; }),
              HasSubstr("is of one model, not of an ensemble"));
}

TEST_F(ApiTranslator, CallsHaveOptionsOfTheirOwn) {
  const auto translator = make();
  const auto usual = translator.translate({"a b c"});
  TranslateOptions wide;
  wide.decoding.beam_size = 5;
  wide.n_best = 5;
  EXPECT_EQ(translator.translate({"a b c"}, wide).front().alternatives.size(), 5u);
  TranslateOptions by_name;
  set_option(by_name.decoding, "beam_size", "5");
  by_name.n_best = 5;
  EXPECT_EQ(texts(translator.translate({"a b c"}, by_name)), texts(translator.translate({"a b c"}, wide)));
  TranslateOptions short_ones;
  short_ones.decoding.max_length = 2;
  EXPECT_LE(translator.translate({"a b c"}, short_ones).front().target_tokens, 2);
  TranslateOptions forced;
  forced.prefix = "h h";
  EXPECT_THAT(translator.translate_requests({{"a"}, {"a", "g"}}, forced).front().text, testing::StartsWith("h h"));
  EXPECT_THAT(translator.translate_requests({{"a"}, {"a", "g"}}, forced).back().text, testing::StartsWith("g"));
  EXPECT_EQ(texts(translator.translate({"a b c"})), texts(usual));
  TranslateOptions drawn;
  drawn.decoding = {.sampling = true, .temperature = 2, .seed = 3};
  drawn.n_best = 3;
  const auto samples = translator.translate({"a b c", "a b c"}, drawn);
  EXPECT_EQ(samples.front().alternatives.size(), 3u);
  drawn.first_line = 1;  // the samples of a line are a function of its number
  EXPECT_EQ(translator.translate({"a b c"}, drawn).front().text, samples.back().text);
}

TEST_F(ApiTranslator, SaysWhatIsWrong) {
  const auto translator = make();
  const auto message = [&](const auto& change) {
    TranslateOptions options;
    change(options);
    return message_of<api::UserError>([&] { translator.translate({"a"}, options); });
  };
  EXPECT_EQ(message([](auto& o) { o.decoding.beam_size = 0; }),
            "beam_size 0: decoding.beam_size: 0 is out of range; it must be at least 1 and at most 1000");
  EXPECT_EQ(message([](auto& o) { o.must = {"b", " "}; }), "must and must_not: a phrase is empty; leave it out");
  EXPECT_EQ(message_of<api::UserError>([&] { translator.translate_stream({}, {}); }),
            "a stream: source and sink are both needed");
  EXPECT_THAT(message([](auto& o) { o.decoding.precision = "int8"; }), HasSubstr("where a translator is made"));
  EXPECT_THAT(message([](auto& o) { o.n_best = 9; }), HasSubstr("beam"));
  EXPECT_EQ(message([](auto& o) { o.n_best = 0; }), "n_best 0: use 1 or more");
  EXPECT_THAT(message([](auto& o) { o.decoding.shortlist = 5; }), HasSubstr("has no lexicon"));
  EXPECT_THAT(message_of<api::UserError>([&] { translator.score({"a"}, {}); }), HasSubstr("1 sources and 0 targets"));
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_document("a", "pdf"); }), HasSubstr("pdf"));
  EXPECT_THAT(message_of<api::UserError>([] { Translator{TranslatorOptions()}; }), HasSubstr("name a model"));
  EXPECT_THAT(message_of<api::UserError>([&] { Translator((folder_ / "none").string()); }),
              HasSubstr("none: no such model directory"));
  TranslatorOptions two{{model_.string()}};
  two.weights = {1, 2};
  EXPECT_EQ(message_of<api::UserError>([&] { Translator{two}; }), "weights: 2 for 1 models; give one for each");
  auto moved = make();
  const auto taken = std::move(moved);
  EXPECT_THAT(message_of<api::UserError>([&] { moved.translate({"a"}); }), HasSubstr("moved from"));
}

TEST_F(ApiTranslator, AStreamRefusesOptionsBeforeItReads) {
  bool asked = false;
  const api::LineSource source = [&](std::string&) { return asked = true, false; };
  api::TranslateOptions options;
  options.must = {""};
  EXPECT_THAT(message_of<api::UserError>([&] {
                make().translate_stream(
                    source, [](std::int64_t, const api::Translation&) { return true; }, options);
              }),
              HasSubstr("a phrase is empty"));
  EXPECT_FALSE(asked);
}

TEST_F(ApiTranslator, NamesOfFilesHoldNoZeroByte) {
  const std::string name("in\0x", 4);
  EXPECT_THAT(message_of<api::UserError>([&] { make().translate_file(name, "out"); }), HasSubstr("input: a zero byte"));
  EXPECT_THAT(message_of<api::UserError>([&] { make().translate_file("in", name); }), HasSubstr("output: a zero byte"));
  EXPECT_THAT(message_of<api::UserError>([&] { Translator{name}; }), HasSubstr("models: a zero byte"));
}

TEST_F(ApiTranslator, NamesOfFilesAreNotEmpty) {
  EXPECT_EQ(message_of<api::UserError>([&] { make().translate_file("", "out"); }),
            "input: the name is empty; name a file");
  EXPECT_EQ(message_of<api::UserError>([&] { make().translate_file(write("in", "a\n"), ""); }),
            "output: the name is empty; name a file");
}

TEST_F(ApiTranslator, MessagesAreOneLineWithAllThatTheUserWrote) {
  EXPECT_THAT(message_of<api::UserError>([] { Translator{"/tmp/\xFF\nabc"}; }),
              HasSubstr("/tmp/? abc: no such model directory"));
  TranslatorOptions options{{model_.string()}};
  options.device = "gpu\n";
  EXPECT_THAT(message_of<api::UserError>([&] { Translator{options}; }), HasSubstr("device 'gpu '"));
}

TEST_F(ApiTranslator, ALexiconIsThatOfTheLoadedModel) {
  std::vector<int32_t> frequent(12);
  std::iota(frequent.begin(), frequent.end(), 0);
  const Lexicon lexicon(std::vector<std::vector<int32_t>>(12, {5, 7}), frequent, 2,
                        vocabularies_of(load_model(model_, torch::kCPU).codec));
  TranslateOptions options;
  options.decoding.shortlist = 2;
  const auto before = make();
  lexicon.write(model_ / kLexiconFile);
  EXPECT_THAT(message_of<api::UserError>([&] { before.translate({"a"}, options); }), HasSubstr("has no lexicon"));
  const auto translator = make();
  fs::remove(model_ / kLexiconFile);
  EXPECT_EQ(translator.translate({"a b c"}, options).size(), 1u);
  write_file_atomically(model_ / kLexiconFile, "NMTL");
  const auto damaged = make();
  EXPECT_EQ(damaged.translate({"a b c"}).size(), 1u) << "nothing wants it";
  EXPECT_THAT(message_of<api::UserError>([&] { damaged.translate({"a"}, options); }), HasSubstr("shortlist.bin"));
}

TEST_F(ApiTranslator, ADamagedModelIsRefused) {
  fs::resize_file(model_ / "model.safetensors", fs::file_size(model_ / "model.safetensors") / 2);
  EXPECT_THAT(message_of<api::UserError>([&] { make(); }), HasSubstr("model.safetensors"));
}

TEST_F(ApiTranslator, TakesAnyBytes) {
  const std::vector<std::string> odd = {std::string("a\0b", 3), "a \xFF b", "a\nb", "\xC3",
                                        std::string(1, '\0'),   " \t"};
  const auto translations = make().translate(odd);
  ASSERT_EQ(translations.size(), odd.size());
  std::vector<bool> repaired;
  for (const auto& translation : translations) {
    repaired.push_back(translation.repaired);
    EXPECT_EQ(translation.text.find('\n'), std::string::npos);
  }
  EXPECT_THAT(repaired, ElementsAre(false, true, false, true, false, false));
  EXPECT_EQ(translations.back().text, "");
  EXPECT_EQ(make().translate({}).size(), 0u);
}

TEST_F(ApiTranslator, StreamsInOrder) {
  const auto translator = make();
  const auto expected = texts(translator.translate(lines_));
  for (const int64_t block : {1, 3, 100}) {
    size_t next = 0;
    std::vector<std::string> found;
    std::vector<int64_t> read_before;
    const auto count = translator.translate_stream(
        [&](std::string& line) {
          if (next == lines_.size()) return false;
          line = lines_[next++];
          return true;
        },
        [&](int64_t number, const Translation& translation) {
          EXPECT_EQ(number, static_cast<int64_t>(found.size()));
          found.push_back(translation.text);
          read_before.push_back(static_cast<int64_t>(next));
          return true;
        },
        {}, {.block_lines = block});
    EXPECT_EQ(count, 7);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(read_before.front(), std::min<int64_t>(block, 7)) << "no more is read than a block";
  }
  int taken = 0;
  EXPECT_EQ(translator.translate_stream(
                [](std::string& line) {
                  line.assign(1, 'a');
                  return true;
                },
                [&](int64_t, const Translation&) { return ++taken < 5; }, {}, {.block_lines = 2}),
            5)
      << "the last one was handed over, too";
}

struct OwnTrouble {
  int number;
};

TEST_F(ApiTranslator, WhatCallbacksThrowComesOut) {
  const auto translator = make(2);
  TranslateOptions options;
  options.progress = [](int64_t) { throw OwnTrouble{1}; };
  EXPECT_THROW(translator.translate(lines_, options), OwnTrouble);
  options.progress = [](int64_t) { throw std::runtime_error("one\ntwo"); };
  EXPECT_EQ(message_of<std::runtime_error>([&] { translator.translate(lines_, options); }), "one\ntwo");
  EXPECT_THROW(translator.translate_stream([](std::string&) -> bool { throw OwnTrouble{2}; },
                                           [](int64_t, const Translation&) { return true; }),
               OwnTrouble);
  EXPECT_THROW(translator.translate_stream(
                   [](std::string& line) {
                     line.assign(1, 'a');
                     return true;
                   },
                   [](int64_t, const Translation&) -> bool { throw OwnTrouble{3}; }, {}, {.block_lines = 1}),
               OwnTrouble);
  EXPECT_EQ(translator.translate(lines_).size(), 7u) << "the translator is as it was";
}

TEST_F(ApiTranslator, StopsWhenAsked) {
  const auto translator = make();
  TranslateOptions options;
  options.decoding.batch_size = 1;
  options.progress = [stop = options.stop](int64_t) { stop.request_stop(); };
  EXPECT_THROW(translator.translate(lines_, options), api::Stopped);
  EXPECT_THROW(translator.translate_file(write("in", "a\n"), (folder_ / "out").string(), options), api::Stopped);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(translator.translate(lines_).size(), 7u);
}

TEST_F(ApiTranslator, RefusesConstraintsThatACallCannotMeet) {
  const auto translator = make();
  const std::string in = write("in", "a\n"), out = (folder_ / "out").string();
  EXPECT_EQ(message_of<api::UserError>(
                [&] { translator.translate_file(in, out, {.decoding = {.beam_size = 2}, .n_best = 2}); }),
            "a file with one translation of each line: n_best has no effect on it; leave it out");
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_file(in, out, {.alignment = true}); }),
              HasSubstr("alignment has no effect"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(message_of<api::UserError>([&] { translator.translate_document("a", "txt", {.must = {"b"}}); }),
            "a document: must has no effect on it; leave it out");
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_document("a", "txt", {.prefix = "b"}); }),
              HasSubstr("prefix has no effect"));
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_document("a", "txt", {.token_scores = true}); }),
              HasSubstr("token_scores has no effect"));
  EXPECT_EQ(message_of<api::UserError>([&] { translator.score({"a"}, {"b"}, {.prefix = "b"}); }),
            "the score of a given translation: prefix has no effect on it; leave it out");
  EXPECT_THAT(message_of<api::UserError>([&] { translator.score({"a"}, {"b"}, {.keep_placeholders = true}); }),
              HasSubstr("keep_placeholders has no effect"));
  EXPECT_THAT(message_of<api::UserError>([&] { translator.score({"a"}, {"b"}, {.split_sentences = true}); }),
              HasSubstr("split_sentences has no effect"));
  EXPECT_THAT(message_of<api::UserError>([&] { translator.score({"a"}, {"b"}, {.decoding = {.ban_unknown = true}}); }),
              HasSubstr("ban_unknown has no effect"));
}

TEST_F(ApiTranslator, AScoreRefusesOptionsOfASearch) {
  const auto translator = make();
  const auto message = [&](const TranslateOptions& options) {
    return message_of<api::UserError>([&] { translator.score({"a"}, {"b"}, options); });
  };
  EXPECT_EQ(message({.decoding = {.beam_size = 2}}),
            "the score of a given translation: beam_size has no effect on it; leave it out");
  EXPECT_THAT(message({.decoding = {.sampling = true}}), HasSubstr("sampling has no effect"));
  EXPECT_THAT(message({.first_line = 1}), HasSubstr("first_line has no effect"));
  for (const std::string name :
       {"max_length_ratio", "max_length_offset", "diversity_groups", "diversity_strength", "seed"}) {
    TranslateOptions options;
    set_option(options.decoding, name, "1");
    EXPECT_THAT(message(options), HasSubstr(name + " has no effect"));
  }
  const auto usual = translator.score({"a b"}, {"b c d"}).front();
  const auto other = translator.score({"a b"}, {"b c d"},
                                      {.decoding = {.length_penalty = 0,
                                                    .length_penalty_form = "simple",
                                                    .alignment_layer = 1,
                                                    .batch_size = 2,
                                                    .shortlist = 0}});
  EXPECT_EQ(other.front().score, other.front().log_probability);
  EXPECT_EQ(other.front().log_probability, usual.log_probability);
  TranslatorOptions wide{{model_.string()}};
  wide.decoding.beam_size = 7;  // for its translations
  EXPECT_EQ(Translator(wide).score({"a"}, {"b"}).size(), 1u);
}

TEST(ApiTranslatorState, KeepsTheInnerTranslatorsThatWereUsedLast) {
  const test::TemporaryDirectory folder;
  TranslatorOptions options{{test::save_tiny_model(folder / "model", test::kTinyTransformer).string()}};
  options.device = "cpu";
  const Translator::State state(options);
  const auto with_beam = [&](int64_t size) { return state.translator_for({.decoding = {.beam_size = size}}); };
  const auto first = with_beam(1), second = with_beam(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(with_beam(1), first);
  EXPECT_EQ(with_beam(2), second);
  with_beam(3);
  with_beam(4);
  EXPECT_EQ(with_beam(1), first);
  with_beam(5);
  EXPECT_EQ(with_beam(1), first) << "it was used after the second";
  EXPECT_EQ(second.use_count(), 1) << "no more than four are kept";
}

TEST_F(ApiTranslator, AFileIsNotWrittenOverTheModel) {
  const auto translator = make();
  const auto weights = fs::path(translator.models().front().directory) / "model.safetensors";
  const auto size = fs::file_size(weights);
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_file(write("in", "a\n"), weights.string()); }),
              HasSubstr("is the same file as model " + weights.string()));
  EXPECT_EQ(fs::file_size(weights), size);
}

TEST_F(ApiTranslator, SamplesOfAFileGoByTheNumberOfItsFirstLine) {
  const auto translator = make();
  const std::string in = write("in", "a b c\nb c a\n"), out = (folder_ / "out").string();
  TranslateOptions options{.decoding = {.sampling = true, .temperature = 3, .seed = 4}, .first_line = 3};
  translator.translate_file(in, out, options);
  const auto expected = translator.translate({"a b c", "b c a"}, options);
  EXPECT_EQ(read_file(out), expected[0].text + "\n" + expected[1].text + "\n");
  options.first_line = 0;
  EXPECT_NE(translator.translate({"a b c", "b c a"}, options)[0].text, expected[0].text);
}

TEST_F(ApiTranslator, TranslatesFilesAndDocuments) {
  const auto translator = make();
  std::vector<std::string> said;
  const auto statistics = translator.translate_file(write("in", "a b c\n\na \xFF\n"), (folder_ / "out").string(), {},
                                                    [&](api::LogLevel level, const std::string& line) {
                                                      EXPECT_EQ(level, api::LogLevel::kWarning);
                                                      said.push_back(line);
                                                      throw std::runtime_error("dropped");
                                                    });
  EXPECT_EQ(statistics.lines, 3);
  EXPECT_EQ(statistics.repaired, 1);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said.front(), HasSubstr("in:3: byte 3 is not UTF-8"));
  EXPECT_EQ(read_file(folder_ / "out"),
            translator.translate_one("a b c") + "\n\n" + translator.translate_one("a \xFF") + "\n");
  EXPECT_THAT(message_of<api::UserError>([&] { translator.translate_file("none", (folder_ / "out").string()); }),
              HasSubstr("none"));
  EXPECT_EQ(translator.translate_document("<p>a b c</p>", "html"), "<p>" + translator.translate_one("a b c") + "</p>");
}

TEST_F(ApiTranslator, ScoresAsTheInnerTranslatorDoes) {
  const ModelSet models({.directories = {model_}, .device = "cpu"});
  const auto expected =
      nmt::Translator(models.members(), models.options()).score(std::vector<TextPair>{{"a b c", "d e"}, {"", ""}});
  TranslateOptions options;
  options.token_scores = true;
  const auto scored = make().score({"a b c", ""}, {"d e", ""}, options);
  EXPECT_EQ(scored.front().log_probability, expected.front().log_probability);
  EXPECT_EQ(scored.front().text, "d e");
  EXPECT_THAT(scored.front().pieces, ElementsAre("d", "e", "</S>"));
  EXPECT_EQ(scored.front().token_scores.size(), 3u);
  EXPECT_EQ(scored.back().score, 0);
}

TEST_F(ApiTranslator, AGlossaryDecides) {
  const auto translator = make();
  TranslateOptions options;
  options.glossary = api::Glossary::parse("b\th h\n");
  EXPECT_EQ(options.glossary.size(), 1u);
  options.alignment = true;
  const auto translation = translator.translate({"a b c"}, options).front();
  EXPECT_THAT(translation.text, HasSubstr("h h"));
  EXPECT_THAT(message_of<api::UserError>([] { api::Glossary::parse("a\tb\nc\n", "terms.tsv"); }),
              HasSubstr("terms.tsv:2"));
}

TEST_F(ApiTranslator, SaysWhatItsModelsAre) {
  const auto models = make().models();
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models.front().source_language, "de");
  EXPECT_EQ(models.front().target_vocabulary, 12);
  EXPECT_GT(models.front().parameters, 1000);
  EXPECT_EQ(models.front().directory, model_.string());
  EXPECT_TRUE(make().has_attention());
}

TEST_F(ApiTranslator, WorksForSeveralThreadsAtATime) {
  const auto shared = make(2), other = make(1);
  const auto expected = texts(shared.translate(lines_));
  std::vector<std::future<bool>> calls;
  for (int i = 0; i < 6; ++i)
    calls.push_back(std::async(std::launch::async, [&, i] {
      TranslateOptions options;
      if (i % 2) options.decoding.batch_size = 2;  // another inner translator
      for (int k = 0; k < 5; ++k)
        if (texts((i < 4 ? shared : other).translate(lines_, options)) != expected) return false;
      return true;
    }));
  for (auto& call : calls) EXPECT_TRUE(call.get());
}

TEST_F(ApiTranslator, LeavesTheThreadsOfTheProgramAlone) {
  const int before = at::get_num_threads();
  make(before + 1).translate(lines_);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST_F(ApiTranslator, MayBeDestroyedWhileItTranslates) {
  auto translator = std::make_unique<Translator>(make());
  const auto expected = texts(translator->translate(lines_));
  std::promise<void> begun, destroyed;
  auto translated = std::async(std::launch::async, [&, mine = translator.get()] {
    TranslateOptions options;
    options.decoding.batch_size = 1;
    bool first = true;
    options.progress = [&](int64_t) {
      if (!std::exchange(first, false)) return;
      begun.set_value();
      destroyed.get_future().wait();
    };
    return texts(mine->translate(lines_, options));
  });
  begun.get_future().wait();
  translator.reset();
  destroyed.set_value();
  EXPECT_EQ(translated.get(), expected);
}

TEST_F(ApiTranslator, StopsWhenItsTokenAsks) {
  int asked = 0;
  TranslateOptions options;
  options.stop = api::StopToken([&] { return ++asked > 2; });
  EXPECT_THROW(make().translate(lines_, options), api::Stopped);
  EXPECT_EQ(asked, 3) << "once it asks it does so for good";
}

TEST_F(ApiTranslator, DoesNotFollowSettingsOfTheCallingThread) {
  const auto translator = make();
  const auto expected = translator.score({"a b"}, {"b c d"}).front().log_probability;
  int calls = 0;
  TranslateOptions options;
  options.progress = [&](int64_t) {  // in the midst of a search
    ++calls;
    EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  };
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const auto found = translator.score({"a b"}, {"b c d"}).front().log_probability;
  translator.translate({"a b"}, options);
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(found, expected);
  EXPECT_GT(calls, 0);
}

}  // namespace
}  // namespace nmt::api_translator_test
