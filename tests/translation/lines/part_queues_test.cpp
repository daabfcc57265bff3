#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stop_token>

#include "models/formula_weights.h"
#include "search/logits_rules.h"
#include "search/scripted_model.h"
#include "text/terms.h"
#include "translation/lines/line_jobs.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::part_queues_test {
namespace {

const std::vector<std::string> kWords = {"a", "b", "c", "d"};

/// Lines that come in one after the other: the next when one is done.
class ArrivingLines final : public TranslationQueue {
 public:
  ArrivingLines(std::vector<Request> requests, int64_t at_first) : requests_(std::move(requests)), arrived_(at_first) {}

  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> taken;
    const std::lock_guard lock(mutex_);
    for (; std::ssize(taken) < count && taken_ < arrived_; ++taken_)
      taken.emplace_back(requests_[taken_], cancelled.contains(taken_) ? client.get_token() : std::stop_token(),
                         [this, line = taken_](auto translation) { done(line, translation); });
    return taken;
  }
  bool wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed || taken_ < arrived_ || done_ == std::ssize(requests_); });
    return !failed && taken_ < arrived_;
  }
  int64_t waiting() const override {
    const std::lock_guard lock(mutex_);
    return arrived_ - taken_;
  }

  std::map<int64_t, std::string> texts;
  std::set<int64_t> cancelled, dropped;
  std::stop_source client;  ///< of the lines that are cancelled
  bool failed = false;

 private:
  void done(int64_t line, const std::optional<Translation>& translation) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(texts.contains(line) || dropped.contains(line)) << "line " << line << " is done twice";
    if (translation) texts[line] = translation->text;
    if (!translation) dropped.insert(line);
    failed = failed || (!translation && !cancelled.contains(line));
    ++done_;
    arrived_ = std::min<int64_t>(arrived_ + 1, std::ssize(requests_));
    changed_.notify_all();
  }

  const std::vector<Request> requests_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t arrived_, taken_ = 0, done_ = 0;
};

std::vector<Request> requests(int64_t count) {
  std::vector<Request> requests(count);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k <= i * 5 % 7; ++k) requests[i].source += kWords[(i + k * k) % 4] + " ";
  return requests;
}

std::vector<std::string> texts_of(const std::vector<Translation>& translations) {
  std::vector<std::string> texts;
  for (const auto& translation : translations) texts.push_back(translation.text);
  return texts;
}

class LiveTranslation : public testing::TestWithParam<int> {
 protected:
  LiveTranslation() { at::set_num_threads(GetParam()); }
  ~LiveTranslation() override { at::set_num_threads(threads_); }
  /// Expects what the translator would answer them all at once.
  static void expect_same(TranslationModel& model, const std::vector<Request>& requests,
                          const TranslatorOptions& options, int64_t at_first) {
    const auto codec = test::word_codec(kWords);
    const Translator translator(model, codec, options);
    ArrivingLines lines(requests, at_first);
    translator.translate(lines);
    std::vector<std::string> live;
    for (const auto& [id, text] : lines.texts) live.push_back(text);
    EXPECT_EQ(live, texts_of(translator.translate(requests)));
  }

 private:
  const int threads_ = at::get_num_threads();
};

TEST_P(LiveTranslation, IsThatOfAllLinesAtOnce) {
  for (const char* options :
       {"d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2",
        "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none"}) {
    const auto model = test::formula_model(test::model_config(options), 8, 8);
    for (const int64_t beam : {1, 3})
      for (const int64_t batch : {1, 2, 8})
        expect_same(*model, requests(24), {.search = {{.beam_size = beam, .max_length = 12, .batch_size = batch}}}, 5);
  }
}

TEST_P(LiveTranslation, OfLinesInPartsAndWithTerms) {
  auto lines = requests(12);
  const auto glossary =
      std::make_shared<const Glossary>(Glossary::parse("a b\tc d\nc\tnot in the vocabulary\n", "terms"));
  lines[1].source = "a b c d a b c d";
  lines[2].source = "";
  for (size_t i = 0; i < lines.size(); i += 2) lines[i].terms = {.glossary = glossary, .keep_placeholders = true};
  lines[4].source = "a {name} b";
  const auto model =
      test::formula_model(test::model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2"), 8, 8);
  expect_same(*model, lines, {.search = {{.beam_size = 3, .max_length = 10, .batch_size = 2}}, .max_source_length = 3},
              3);
}

/// Cancels at the second token of any hypothesis.
class Cancelling final : public LogitsRule {
 public:
  explicit Cancelling(std::stop_source& client) : client_(client) {}
  void judge(RowRules& row) const override {
    if (row.tokens.size() == 2) client_.request_stop();
  }

 private:
  std::stop_source& client_;
};

TEST_P(LiveTranslation, LeavesLinesThatAreCancelled) {
  const auto model =
      test::formula_model(test::model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2"), 8, 8);
  const auto codec = test::word_codec(kWords);
  for (const bool at_once : {false, true}) {
    SCOPED_TRACE(at_once ? "before they are cut into parts" : "in the search");
    ArrivingLines lines(requests(20), 6);
    lines.cancelled = {0, 3, 7, 19};
    TranslatorOptions options{.search = {{.beam_size = 2, .min_length = 5, .max_length = 12, .batch_size = 4}}};
    if (at_once)
      lines.client.request_stop();
    else
      options.search.rules = {std::make_shared<Cancelling>(lines.client)};
    Translator(*model, codec, options).translate(lines);
    for (int64_t id = 0; id < 20; ++id) EXPECT_NE(lines.texts.contains(id), lines.dropped.contains(id)) << id;
    EXPECT_EQ(lines.dropped, lines.cancelled);
  }
}

TEST_P(LiveTranslation, EncodesNoMorePartsOfALineThatIsCancelled) {
  const auto codec = test::word_codec(kWords);
  ArrivingLines lines({{.source = "a b c d a b c d a b c d a b c d a b c d a b c d"}, {.source = "a"}}, 2);
  lines.cancelled = {0};
  test::ScriptedModel model(8, [&](const auto&, const auto&) -> std::vector<double> {
    lines.client.request_stop();
    return {0, 0, 0, 1, 0, 0, 0, 0};
  });
  Translator(model, codec, {.search = {{.beam_size = 1, .batch_size = 2}}, .max_source_length = 1}).translate(lines);
  EXPECT_EQ(lines.dropped, lines.cancelled);
  EXPECT_TRUE(lines.texts.contains(1));
  EXPECT_LE(std::accumulate(model.started.begin(), model.started.end(), int64_t{0}), 2 * GetParam() + 1);
}

// A search may keep a part back, for its attention, until others are done.
TEST(PartQueue, OfALineThatIsCancelledTheOtherPartsMakeNothing) {
  ArrivingLines lines({{.source = "a b"}, {.source = "c"}}, 2);
  lines.cancelled = {0};
  std::vector<std::string> made;
  const TranslationCalls calls;
  PartQueue parts(&lines, 1,
                  {.begin =
                       [](LineJob& line) {
                         line.parts.resize(line.request.source.size() > 1 ? 2 : 1);
                         for (auto& part : line.parts) part.input.sources = {{4}};
                       },
                   .finish =
                       [&](LineJob& line) {
                         made.push_back(line.request.source);
                         return true;
                       }},
                  calls);
  auto taken = parts.take(3);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_FALSE(taken[1].cancelled());
  lines.client.request_stop();
  EXPECT_TRUE(taken[1].cancelled());
  taken[0].finish({{}});
  taken[2].finish({{}});
  taken.clear();
  EXPECT_EQ(made, std::vector<std::string>{"c"});
  EXPECT_EQ(lines.dropped, lines.cancelled);
  EXPECT_FALSE(lines.texts.contains(0));
  EXPECT_FALSE(parts.wait());
}

TEST_P(LiveTranslation, AFailureClosesTheQueue) {
  const auto codec = test::word_codec(kWords);
  test::ScriptedModel model(8, [](const auto& source, const auto&) -> std::vector<double> {
    if (source.size() == 1 && source[0] == test::kB) throw std::runtime_error("this line fails");
    return {0, 0, 0, 1, 0, 0, 0, 0};
  });
  auto all = requests(10);
  all[5].source = "b";
  ArrivingLines lines(all, 3);
  EXPECT_THROW(Translator(model, codec, {.search = {{.beam_size = 1, .batch_size = 2}}}).translate(lines),
               std::runtime_error);
  EXPECT_TRUE(lines.failed);
}

INSTANTIATE_TEST_SUITE_P(Threads, LiveTranslation, testing::Values(1, 2));

}  // namespace
}  // namespace nmt::part_queues_test
