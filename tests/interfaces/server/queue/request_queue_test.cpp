#include "server/queue/request_queue.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "base/error.h"
#include "server/fake_translator.h"
#include "server/http/http_message.h"
#include "server/live_translator.h"

namespace nmt::request_queue_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<LineRequest> lines_of(const std::vector<std::string>& texts) {
  std::vector<LineRequest> lines;
  for (const auto& text : texts)
    lines.push_back(
        {.pair = {text.starts_with("other") ? "fr" : "de", "en"}, .request = {.source = text, .n_best = 1}});
  return lines;
}

class RequestQueueTest : public testing::Test {
 protected:
  RequestQueue& make(QueueOptions options) {
    queue_.emplace(translator_.function(), options, metrics_, *log_);
    return *queue_;
  }
  /// Asks as a client that waits so long, then cancels.
  std::vector<std::string> ask(const std::vector<std::string>& texts, std::chrono::milliseconds limit = 20s,
                               const std::string& client = "client") {
    // Not an exception: the thread sanitizer does not see how threads share one.
    struct Outcome {
      int status = 200;
      std::string message;
      std::vector<std::string> translations;
    };
    auto answered = std::make_shared<std::promise<Outcome>>();
    std::stop_source cancelled;
    queue_->submit(client, lines_of(texts), cancelled.get_token(),
                   [answered](const std::vector<Translation>& answers, const RequestError* error) {
                     Outcome outcome;
                     if (error) outcome = {error->status(), error->what(), {}};
                     for (const auto& answer : answers) outcome.translations.push_back(answer.text);
                     answered->set_value(std::move(outcome));
                   });
    auto result = answered->get_future();
    if (result.wait_for(limit) == std::future_status::ready) {
      Outcome outcome = result.get();
      if (outcome.status != 200) throw RequestError(outcome.status, outcome.message);
      return std::move(outcome.translations);
    }
    cancelled.request_stop();
    throw RequestError(504, "too late");
  }
  std::future<std::vector<std::string>> ask_aside(const std::vector<std::string>& texts,
                                                  const std::string& client = "client") {
    return std::async(std::launch::async, [this, texts, client] { return ask(texts, 20s, client); });
  }
  /// The status with which a request ends, 200 for an answer.
  int status_of(const std::vector<std::string>& texts, std::chrono::milliseconds limit = 20s,
                const std::string& client = "client") {
    try {
      ask(texts, limit, client);
      return 200;
    } catch (const RequestError& error) {
      return error.status();
    }
  }
  bool waiting_becomes(int64_t lines) {
    return test::eventually([&] { return queue_->waiting() == lines; });
  }
  /// A batch is counted shortly after its answers.
  bool counts_batches(int count) {
    const std::string line = "nmt_batches_total " + std::to_string(count) + "\n";
    return test::eventually([&] { return metrics_.text(0).find(line) != std::string::npos; });
  }
  /// And the translator idles shortly after that.
  bool idles_after(int batches) {
    const bool counted = counts_batches(batches);
    std::this_thread::sleep_for(50ms);
    return counted;
  }

  std::shared_ptr<Logger> log_ = test::silent_log();
  Metrics metrics_;
  test::FakeTranslator translator_;
  // Before the queue, whose thread may look at them for a moment after the last answer.
  test::LiveTranslator live_;
  std::atomic<int> now_ = 0;
  std::optional<RequestQueue> queue_;
};

TEST_F(RequestQueueTest, AnswersInTheOrderOfTheLines) {
  make({.max_batch = 2, .window = 0ms});
  EXPECT_THAT(ask({"ab", "cd", "ef", "gh", "ij"}), ElementsAre("ba", "dc", "fe", "hg", "ji"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("ab", "cd"), ElementsAre("ef", "gh"), ElementsAre("ij")));
  EXPECT_THAT(ask({}), ElementsAre());
}

TEST_F(RequestQueueTest, JoinsWhatWaits) {
  make({.max_batch = 8, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"one"});
  translator_.wait_for_batches(1);
  auto second = ask_aside({"two"});
  ASSERT_TRUE(waiting_becomes(1));
  auto third = ask_aside({"three", "four"});
  ASSERT_TRUE(waiting_becomes(3));
  translator_.release();
  EXPECT_THAT(first.get(), ElementsAre("eno"));
  EXPECT_THAT(second.get(), ElementsAre("owt"));
  EXPECT_THAT(third.get(), ElementsAre("eerht", "ruof"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("one"), ElementsAre("two", "three", "four")));
}

TEST_F(RequestQueueTest, ABatchIsOfOnePairAndPairsShareTheTime) {
  queue_.emplace(in_batches([&](const LanguagePair&, std::span<const Request> batch, const auto&) {
                   auto answers = translator_.translate(batch);
                   now_ += batch.front().source.starts_with("other") ? 3 : 1;  // those take three times as long
                   return answers;
                 }),
                 QueueOptions{.max_batch = 2, .clock = [this] { return static_cast<double>(now_); }}, metrics_, *log_);
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  auto many = ask_aside({"a", "b", "c", "d", "e", "f", "g"});
  ASSERT_TRUE(waiting_becomes(7));
  auto other = ask_aside({"other 1", "other 2", "other 3"});
  ASSERT_TRUE(waiting_becomes(10));
  auto mixed = ask_aside({"other 4", "h"});
  ASSERT_TRUE(waiting_becomes(12));
  translator_.release();
  EXPECT_EQ(many.get().size(), 7u);
  EXPECT_EQ(other.get().size(), 3u);
  EXPECT_THAT(mixed.get(), ElementsAre("4 rehto", "h"));
  // 1 s of the first pair, 3 s of the other one, then the first until it has had as much.
  EXPECT_THAT(
      translator_.batches(),
      ElementsAre(ElementsAre("x"), ElementsAre("other 1", "other 4"), ElementsAre("a", "h"), ElementsAre("b", "c"),
                  ElementsAre("other 2", "other 3"), ElementsAre("d", "e"), ElementsAre("f", "g")));
  first.get();
}

TEST_F(RequestQueueTest, ALineJoinsThoseThatAreBeingTranslated) {
  queue_.emplace(live_.function(), QueueOptions{.clock = [] { return 0.0; }}, metrics_, *log_);
  auto book = ask_aside({"1", "2", "3", "4"});
  live_.wait_for(1);
  auto note = ask_aside({"note"});
  ASSERT_TRUE(waiting_becomes(4));
  live_.allow(100);
  EXPECT_THAT(note.get(), ElementsAre("eton"));
  EXPECT_THAT(book.get(), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(live_.order(), ElementsAre("1", "2", "note", "3", "4")) << "in turns, in one go";
  EXPECT_TRUE(counts_batches(1));
}

TEST_F(RequestQueueTest, ATurnEndsWhenOthersWait) {
  queue_.emplace(live_.function(), QueueOptions{.turn = 50ms, .clock = [this] { return now_ / 100.0; }}, metrics_,
                 *log_);
  auto many = ask_aside({"1", "2", "3", "4"});
  live_.wait_for(1);
  auto other = ask_aside({"other"});
  ASSERT_TRUE(waiting_becomes(4));
  live_.allow(1);
  live_.wait_for(2);
  now_ = 6;  // 60 ms
  live_.allow(100);
  EXPECT_THAT(other.get(), ElementsAre("rehto"));
  EXPECT_EQ(many.get().size(), 4u);
  EXPECT_THAT(live_.order(), ElementsAre("1", "2", "other", "3", "4"));
}

TEST_F(RequestQueueTest, ATurnThatIsEndedTakesNoMoreLines) {
  queue_.emplace(live_.function(), QueueOptions{.clock = [] { return 0.0; }}, metrics_, *log_);
  auto book = ask_aside({"1", "2", "3"});
  live_.wait_for(1);
  queue_->end_turns();
  auto note = ask_aside({"note"});
  ASSERT_TRUE(waiting_becomes(3));
  live_.allow(100);
  EXPECT_THAT(note.get(), ElementsAre("eton"));
  EXPECT_THAT(book.get(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(live_.turns(), ElementsAre(ElementsAre("1"), ElementsAre("2", "note", "3")))
      << "the old translator has one line under way, and ends it";
}

TEST_F(RequestQueueTest, ATurnThatIsEndedBeforeItsFirstLineIsNoFailure) {
  live_.allow(100);
  std::atomic<int> calls = 0;
  queue_.emplace(
      [&](const LanguagePair& pair, TranslationQueue& lines) {
        if (++calls <= 2) queue_->end_turns();
        if (calls == 2) throw std::runtime_error("the old translator fails");
        live_.function()(pair, lines);
      },
      QueueOptions(), metrics_, *log_);
  EXPECT_THAT(ask({"ab", "cd"}), ElementsAre("ba", "dc"));
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(live_.turns(), ElementsAre(ElementsAre(), ElementsAre("ab", "cd")));
}

TEST_F(RequestQueueTest, ALongTurnIsCountedWhileItGoesOn) {
  queue_.emplace(live_.function(), QueueOptions{.turn = 50ms, .clock = [this] { return now_ / 100.0; }}, metrics_,
                 *log_);
  auto book = ask_aside({"1", "2", "3"});
  live_.wait_for(1);
  EXPECT_THAT(metrics_.text(0), testing::HasSubstr("nmt_batches_total 0\n"));
  now_ = 6;  // 60 ms
  live_.allow(1);
  live_.wait_for(2);
  EXPECT_THAT(metrics_.text(0), testing::HasSubstr("nmt_batches_total 1\n"));
  live_.allow(100);
  EXPECT_EQ(book.get().size(), 3u);
  EXPECT_TRUE(counts_batches(2));
  EXPECT_THAT(metrics_.text(0), testing::HasSubstr("nmt_batch_lines_total 3\n"));
  EXPECT_THAT(live_.turns(), testing::SizeIs(1));
}

TEST_F(RequestQueueTest, LinesAreToldInTheirOrderAsSoonAsTheyAreThere) {
  std::vector<int64_t> told;
  auto done = std::make_shared<std::promise<size_t>>();
  // Answers the last line first.
  queue_.emplace(
      [](const LanguagePair&, TranslationQueue& lines) {
        auto taken = lines.take(10);
        std::ranges::swap(taken.front(), taken.back());
        for (auto& line : taken) line.finish({});
      },
      QueueOptions(), metrics_, *log_);
  queue_->submit(
      "client", lines_of({"a", "b", "c"}), {},
      [done](const std::vector<Translation>& answers, const RequestError*) { done->set_value(answers.size()); },
      [&](int64_t line, const Translation&) { told.push_back(line); });
  EXPECT_EQ(done->get_future().get(), 3u);
  EXPECT_THAT(told, ElementsAre(0, 1, 2));
}

TEST_F(RequestQueueTest, ALiveLineThatFailsSpoilsNoOtherRequest) {
  live_.allow(1000);
  queue_.emplace(live_.function(), QueueOptions(), metrics_, *log_);
  auto good = ask_aside({"ab", "cd", "ef"});
  auto bad = std::async(std::launch::async, [this] { return status_of({"gh", "fail", "ij"}); });
  EXPECT_THAT(good.get(), ElementsAre("ba", "dc", "fe"));
  EXPECT_EQ(bad.get(), 500);
  EXPECT_THAT(ask({"kl"}), ElementsAre("lk"));
}

TEST_F(RequestQueueTest, ATranslatorThatTakesNothingIsAFailure) {
  queue_.emplace([](const LanguagePair&, TranslationQueue&) { throw std::runtime_error("no model"); }, QueueOptions(),
                 metrics_, *log_);
  EXPECT_EQ(status_of({"a", "b"}), 500);
  queue_.emplace([](const LanguagePair&, TranslationQueue&) {}, QueueOptions(), metrics_, *log_);
  EXPECT_EQ(status_of({"a", "b"}), 500);
}

TEST_F(RequestQueueTest, AnIdleTranslatorWaitsForCompany) {
  make({.max_batch = 2, .window = 20s});  // ended by the second line
  ask({"x", "y"});
  ASSERT_TRUE(idles_after(1));
  auto first = ask_aside({"a"});
  EXPECT_TRUE(waiting_becomes(1));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(queue_->waiting(), 1);
  EXPECT_THAT(ask({"b"}), ElementsAre("b"));
  EXPECT_THAT(first.get(), ElementsAre("a"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("x", "y"), ElementsAre("a", "b")));
}

TEST_F(RequestQueueTest, ALongRequestSharesTheBatches) {
  make({.max_batch = 4, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  auto book = ask_aside({"1", "2", "3", "4", "5", "6"});
  ASSERT_TRUE(waiting_becomes(6));
  auto note = ask_aside({"n"});
  ASSERT_TRUE(waiting_becomes(7));
  translator_.release();
  EXPECT_THAT(note.get(), ElementsAre("n"));
  EXPECT_THAT(book.get(), ElementsAre("1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(translator_.batches(),
              ElementsAre(ElementsAre("x"), ElementsAre("1", "n", "2", "3"), ElementsAre("4", "5", "6")));
  first.get();
}

TEST_F(RequestQueueTest, ClientsTakeTurnsHoweverManyRequestsOneHas) {
  make({.max_batch = 4, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  std::vector<std::future<std::vector<std::string>>> many;
  for (int i = 0; i < 6; ++i) {
    many.push_back(ask_aside({std::to_string(i)}, "many"));
    ASSERT_TRUE(waiting_becomes(i + 1));
  }
  auto stranger = ask_aside({"a", "b"}, "stranger");
  ASSERT_TRUE(waiting_becomes(8));
  translator_.release();
  EXPECT_THAT(stranger.get(), ElementsAre("a", "b"));
  for (auto& one : many) one.get();
  EXPECT_THAT(translator_.batches(),
              ElementsAre(ElementsAre("x"), ElementsAre("0", "a", "1", "b"), testing::SizeIs(4)));
  first.get();
}

TEST_F(RequestQueueTest, AClientThatFillsTheQueueLeavesRoomForOthers) {
  make({.max_waiting = 4, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  std::vector<std::future<std::vector<std::string>>> asked;
  for (int i = 0; i < 4; ++i) asked.push_back(ask_aside({"1"}, "many"));
  ASSERT_TRUE(waiting_becomes(4));
  EXPECT_EQ(status_of({"5"}, 20s, "many"), 503);
  for (int i = 0; i < 2; ++i) asked.push_back(ask_aside({"a"}, "stranger"));
  ASSERT_TRUE(waiting_becomes(6));
  EXPECT_EQ(status_of({"c"}, 20s, "stranger"), 503) << "more than an even share";
  translator_.release();
  for (auto& one : asked) EXPECT_EQ(one.get().size(), 1u);
  first.get();
}

TEST_F(RequestQueueTest, LongRequestsCountAsAQuarterEachAndLeaveAQuarter) {
  make({.max_waiting = 8, .max_batch = 4, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  const std::vector<std::string> texts(100, "ab");
  std::vector<std::future<std::vector<std::string>>> books;
  for (int i = 1; i <= 3; ++i) {
    books.push_back(ask_aside(texts));
    ASSERT_TRUE(waiting_becomes(100 * i));
  }
  EXPECT_EQ(status_of(texts), 503) << "the last quarter is for short requests";
  const std::array short_ones = {ask_aside({"c"}), ask_aside({"d"})};
  ASSERT_TRUE(waiting_becomes(302));
  EXPECT_EQ(status_of({"e"}), 503);
  translator_.release();
  for (auto& book : books) EXPECT_EQ(book.get(), std::vector<std::string>(100, "ba"));
  for (const auto& one : short_ones) one.wait();
  first.get();
  EXPECT_EQ(status_of(texts), 200) << "nothing counts any more";
}

TEST_F(RequestQueueTest, WhatIsHeldCountsAsLines) {
  make({.max_waiting = 8, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  const auto done = [](const std::vector<Translation>&, const RequestError*) {};
  for (int i = 0; i < 3; ++i) queue_->submit("client", lines_of({"ab"}), {}, done, {}, 1000);
  const std::array short_ones = {ask_aside({"c"}), ask_aside({"d"})};
  ASSERT_TRUE(waiting_becomes(5));
  EXPECT_EQ(status_of({"e"}), 503);
  translator_.release();
  for (const auto& one : short_ones) one.wait();
  first.get();
}

TEST_F(RequestQueueTest, WhatTheTranslatorRefusesIsToldToTheClient) {
  queue_.emplace(in_batches([](const LanguagePair&, std::span<const Request> batch, const auto&) {
                   std::vector<Translation> answers;
                   for (const auto& one : batch)
                     answers.push_back({.alternatives = {}, .prefix_is_cut = one.source == "no"});
                   return answers;
                 }),
                 QueueOptions(), metrics_, *log_);
  EXPECT_EQ(status_of({"yes", "no", "yes"}), 400);
  EXPECT_EQ(status_of({"yes"}), 200);
}

TEST_F(RequestQueueTest, RefusesWhenFullAndRecovers) {
  make({.max_waiting = 10, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  auto second = ask_aside({"a", "b"});
  std::vector<std::future<std::vector<std::string>>> more;
  for (int i = 0; i < 7; ++i) more.push_back(ask_aside({"g"}));
  ASSERT_TRUE(waiting_becomes(9));
  EXPECT_EQ(status_of({"c", "d"}), 503);
  auto third = ask_aside({"e"});
  ASSERT_TRUE(waiting_becomes(10));
  EXPECT_EQ(status_of({"f"}), 503);
  translator_.release();
  EXPECT_THAT(first.get(), ElementsAre("x"));
  EXPECT_THAT(second.get(), ElementsAre("a", "b"));
  EXPECT_THAT(third.get(), ElementsAre("e"));
  for (auto& one : more) one.get();
  EXPECT_EQ(status_of({"1", "2", "3"}), 200);
}

TEST_F(RequestQueueTest, DropsWhatWaitsForAClientThatGaveUp) {
  make({.max_batch = 1, .window = 0ms});
  translator_.hold();
  std::stop_source leaves;
  std::atomic<bool> is_told = false;
  queue_->submit("client", lines_of({"a", "b"}), leaves.get_token(),
                 [&](const auto&, const RequestError*) { is_told = true; });
  translator_.wait_for_batches(1);  // now one line is in the translator, one waits
  EXPECT_EQ(status_of({"c"}, 20ms), 504);
  EXPECT_EQ(queue_->waiting(), 1);
  leaves.request_stop();
  EXPECT_EQ(queue_->waiting(), 0);
  translator_.release();
  EXPECT_THAT(ask({"d"}), ElementsAre("d"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("a"), ElementsAre("d")));
  EXPECT_FALSE(is_told) << "of an answer that nobody waits for";
}

TEST_F(RequestQueueTest, WhatNobodyWaitsForGoesWhileATurnGoesOn) {
  queue_.emplace(live_.function(), QueueOptions{.clock = [] { return 0.0; }}, metrics_, *log_);
  auto book = ask_aside({"1", "2", "3"});
  live_.wait_for(1);
  std::stop_source leaves;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> still_held = held;
  queue_->submit("client", lines_of({"a", "b"}), leaves.get_token(),
                 [held = std::move(held)](const auto&, const auto*) {});
  leaves.request_stop();
  live_.allow(1);
  live_.wait_for(2);
  EXPECT_TRUE(still_held.expired());
  live_.allow(100);
  EXPECT_EQ(book.get().size(), 3u);
  EXPECT_THAT(live_.order(), ElementsAre("1", "2", "3"));
}

TEST_F(RequestQueueTest, AClientThatGivesUpBeforeTheBatchLeavesNothing) {
  make({.max_batch = 2, .window = 20s});  // ended by a second line
  ask({"x", "y"});
  ASSERT_TRUE(idles_after(1));
  EXPECT_EQ(status_of({"a"}, 1ms), 504);
  EXPECT_THAT(ask({"b", "c"}), ElementsAre("b", "c"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("x", "y"), ElementsAre("b", "c")));
}

TEST_F(RequestQueueTest, ABatchThatNobodyWaitsForIsStopped) {
  std::atomic<bool> stopped = false;
  queue_.emplace(
      in_batches([&](const LanguagePair&, std::span<const Request> batch, const std::function<bool()>& stop) {
        if (batch.front().source != "slow") return translator_.translate(batch);
        for (int i = 0; i < 10'000 && !stopped; ++i) {
          std::this_thread::sleep_for(1ms);
          stopped = stop();
        }
        return std::vector<Translation>();
      }),
      QueueOptions{.window = 0ms}, metrics_, *log_);
  EXPECT_EQ(status_of({"slow", "slow too"}, 30ms), 504);
  EXPECT_THAT(ask({"ab"}), ElementsAre("ba"));
  EXPECT_TRUE(stopped);
}

TEST_F(RequestQueueTest, ABatchGoesOnForWhoStillWaits) {
  std::atomic<bool> stopped = false;
  std::stop_source leaves;
  queue_.emplace(
      in_batches([&](const LanguagePair&, std::span<const Request> batch, const std::function<bool()>& stop) {
        auto answers = translator_.translate(batch);
        if (batch.size() == 8) leaves.request_stop();
        stopped = stop();
        return answers;
      }),
      QueueOptions{.max_batch = 8, .window = 0ms}, metrics_, *log_);
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  queue_->submit("client", lines_of({"ab", "cd", "ef", "gh"}), leaves.get_token(),
                 [](const auto&, const RequestError*) {});
  auto stays = ask_aside({"1a", "1b", "1c", "1d"});
  ASSERT_TRUE(waiting_becomes(8));
  translator_.release();
  first.get();
  EXPECT_THAT(stays.get(), ElementsAre("a1", "b1", "c1", "d1"));
  EXPECT_TRUE(leaves.stop_requested());
  EXPECT_FALSE(stopped);
}

TEST_F(RequestQueueTest, ALineThatFailsSpoilsNoOtherRequest) {
  make({.max_batch = 8, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"x"});
  translator_.wait_for_batches(1);
  auto good = ask_aside({"ab", "cd"});
  ASSERT_TRUE(waiting_becomes(2));
  auto bad = std::async(std::launch::async, [this] { return status_of({"ef", "fail"}); });
  ASSERT_TRUE(waiting_becomes(4));
  translator_.release();
  EXPECT_THAT(good.get(), ElementsAre("ba", "dc"));
  EXPECT_EQ(bad.get(), 500);
  EXPECT_EQ(status_of({"fail"}), 500) << "alone, too";
  EXPECT_THAT(ask({"gh"}), ElementsAre("hg"));
  first.get();
}

TEST_F(RequestQueueTest, AFailureEndsTheRestOfItsRequest) {
  make({.max_batch = 1, .window = 0ms});
  EXPECT_EQ(status_of({"fail", "a", "b"}), 500);
  EXPECT_EQ(queue_->waiting(), 0);
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("fail")));
}

TEST_F(RequestQueueTest, TooFewAnswersAreAFailure) {
  queue_.emplace(
      in_batches([](const LanguagePair&, std::span<const Request>, const auto&) { return std::vector<Translation>(); }),
      QueueOptions{.window = 0ms}, metrics_, *log_);
  EXPECT_EQ(status_of({"a"}), 500);
}

TEST_F(RequestQueueTest, TheEndAnswersWhatWaits) {
  make({.max_batch = 1, .window = 0ms});
  translator_.hold();
  auto first = ask_aside({"ab"});
  translator_.wait_for_batches(1);
  auto second = ask_aside({"cd", "ef"});
  ASSERT_TRUE(waiting_becomes(2));
  auto end = std::async(std::launch::async, [this] { queue_.reset(); });
  translator_.release();
  EXPECT_THAT(first.get(), ElementsAre("ba"));
  EXPECT_THAT(second.get(), ElementsAre("dc", "fe"));
  end.get();
}

TEST_F(RequestQueueTest, ManyClientsGetTheirOwnAnswers) {
  make({.max_waiting = 1'000'000, .max_batch = 7, .window = 1ms});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < 16; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 50; ++i) {
        std::vector<std::string> texts, expected;
        for (int line = 0; line < i % 4; ++line) {
          texts.push_back(std::to_string(client) + "/" + std::to_string(i) + "/" + std::to_string(line));
          expected.emplace_back(texts.back().rbegin(), texts.back().rend());
        }
        if (ask(texts) != expected) ++wrong;
      }
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(queue_->waiting(), 0);
}

TEST_F(RequestQueueTest, RefusesOptionsOutOfRange) {
  EXPECT_THROW(make({.max_waiting = 0}), Error);
  EXPECT_THROW(make({.max_batch = 0}), Error);
  EXPECT_THROW(make({.window = -1ms}), Error);
}

}  // namespace
}  // namespace nmt::request_queue_test
