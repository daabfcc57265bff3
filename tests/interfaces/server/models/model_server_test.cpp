#include "server/models/model_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "server/fake_translator.h"
#include "server/http/http_client.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace fs = std::filesystem;

namespace nmt::model_server_test {
namespace {

class ModelServerTest : public testing::Test {
 protected:
  /// Models of different size translate differently.
  std::shared_ptr<ModelPool> pool(const std::string& name, int d_ff, LanguageAliases aliases = {}) {
    const auto config = parse_config(fmt::format("{{model: {{d_model: 16, d_ff: {}, num_blocks: 1, num_heads: 2}}, "
                                                 "data: {{maxlen1: 20, maxlen2: 20}}}}",
                                                 d_ff),
                                     "test")
                            .config;
    const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = 60, .character_coverage = 1.0});
    const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
    fs::create_directory(folder_ / name);
    save_model(folder_ / name, *test::formula_model(config.model, 60, 60), config,
               TextCodec({.source_language = "de", .target_language = "en"}, tokenizer, tokenizer),
               nlohmann::json::object());
    return std::make_shared<ModelPool>(
        ServiceConfig{.models = {{.directories = {folder_ / name}}}, .aliases = std::move(aliases)},
        ModelPoolOptions{.device = "cpu"}, *log_);
  }
  std::string translated(ModelPool& pool) const {
    return pool.translations({"de", "en"}, std::vector{Request{.source = line_}}, {}).at(0).text;
  }
  static std::string request(const nlohmann::json& fields) {
    nlohmann::json all = {{"source", "de"}, {"target", "en"}};
    all.update(fields);
    return test::http_request("POST", "/translate", all.dump(), "application/json");
  }

  const std::string line_ = test::training_lines().front();
  test::TemporaryDirectory folder_;
  std::shared_ptr<Logger> log_ = test::silent_log();
};

TEST_F(ModelServerTest, NewLinesGoToTheNewModelWhileOldOnesAreUnderWay) {
  std::deque<std::shared_ptr<ModelPool>> pools = {pool("old", 32), pool("new", 64)};
  const auto by_old = translated(*pools[0]), by_new = translated(*pools[1]);
  ASSERT_NE(by_old, by_new);
  ModelServer server({.load =
                          [&] {
                            auto next = pools.front();
                            pools.pop_front();
                            return next;
                          },
                      .options =
                          [](const ModelPool& models) {
                            ServerOptions options;
                            options.service.pairs = models.pairs();
                            options.service.queue.max_waiting = 1'000'000;
                            options.service.admission.max_characters = 100'000'000;
                            return options;
                          }},
                     *log_);

  // More lines than are translated before the test ends.
  std::string text;
  while (text.size() < 900'000) text += line_ + '\n';
  test::RawClient book(server.port()), note(server.port());
  book.send(request({{"q", text}, {"stream", true}}));
  ASSERT_EQ(book.read_head().status, 200);
  ASSERT_NE(book.read_chunk(), "");
  server.reload();
  const auto answer = note.ask(request({{"q", line_}}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(nlohmann::json::parse(answer.body).at("translatedText"), by_new);
}

TEST_F(ModelServerTest, WhatCannotBeReadAgainChangesNothing) {
  std::deque<std::shared_ptr<ModelPool>> pools = {pool("old", 32), pool("new", 64, {{"gsw", "de"}})};
  const auto by_old = translated(*pools[0]), access_log = (folder_ / "access.log").string();
  ModelServer server({.load =
                          [&] {
                            auto next = pools.front();
                            pools.pop_front();
                            return next;
                          },
                      .options =
                          [&](const ModelPool& models) {
                            ServerOptions options{.access_log = access_log};
                            options.service.pairs = models.pairs();
                            return options;
                          }},
                     *log_);
  fs::remove(access_log);
  fs::create_directory(access_log);
  EXPECT_THROW(server.reload(), Error);
  test::RawClient client(server.port());
  const auto answer = client.ask(request({{"q", line_}}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(nlohmann::json::parse(answer.body).at("translatedText"), by_old);
  EXPECT_EQ(client.ask(request({{"q", line_}, {"source", "gsw"}})).status, 400) << "the languages, too";
}

}  // namespace
}  // namespace nmt::model_server_test
