#include "server/documents/document_translator.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "child_processes.h"
#include "server/fake_translator.h"

namespace nmt::document_translator_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class DocumentTranslatorTest : public testing::Test {
 protected:
  DocumentTranslatorTest() { make({}); }
  ~DocumentTranslatorTest() override {
    clients_.request_stop();
    translator_.release();
  }
  void make(QueueOptions options) {
    documents_.reset();
    queue_.emplace(translator_.function(), options, metrics_, *log_);
    documents_.emplace(
        *queue_, [this] { return languages_; }, *log_);
  }
  /// The request of a client that waits until the end of the test.
  DocumentRequest request(std::vector<std::string> fragments) {
    return {.bytes = std::move(fragments), .source = "de", .target = "en", .cancelled = clients_.get_token()};
  }
  /// What comes of it is kept under its name.
  DocumentTranslator::Done named(const std::string& name) {
    return [this, name](const std::vector<TranslatedDocument>& documents, const RequestError* error) {
      std::string text = name + ":";
      if (error) text += " " + std::to_string(error->status());
      for (const auto& document : documents) text += " " + document.bytes;
      const std::lock_guard lock(mutex_);
      ended_.push_back(text);
    };
  }
  std::vector<std::string> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  bool waiting_becomes(int64_t lines) {
    return test::eventually([&] { return queue_->waiting() == lines; });
  }
  /// Two large documents whose texts the translator has, or that wait for it: the threads of such are taken.
  void take_all_threads_of_large() {
    std::string large;
    while (large.size() < 300 << 10) large += "<p class='a long name of a class'>ab</p>";
    translator_.hold();
    for (const char* client : {"one", "other"}) {
      auto document = request({large});
      document.client = client;
      documents_->translate(std::move(document), named("large"));
    }
    // Each has handed in a part of 128 texts, and the translator has taken 64.
    translator_.wait_for_batches(1);
    ASSERT_TRUE(waiting_becomes(192));
  }

  std::shared_ptr<Logger> log_ = test::silent_log();
  std::shared_ptr<const ServiceLanguages> languages_ =
      std::make_shared<const ServiceLanguages>(std::vector<LanguagePair>{{"de", "en"}});
  Metrics metrics_;
  test::FakeTranslator translator_;
  std::stop_source clients_;
  std::mutex mutex_;
  std::vector<std::string> ended_;  // with mutex_
  std::optional<RequestQueue> queue_;
  std::optional<DocumentTranslator> documents_;
};

// The thread of the queue is within `progress` when the client cancels, the document's thread ends and its request
// goes.
TEST_F(DocumentTranslatorTest, ACallOfProgressOutlivesTheRequest) {
  std::promise<void> called, released;
  auto state = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = state;
  auto asked = request({"<p>Ja</p>"});
  asked.progress = [&called, release = released.get_future().share(), state = std::move(state)](int64_t, int64_t) {
    const auto until = release;  // of its own: what is captured may be gone behind the wait
    called.set_value();
    until.wait();
  };
  documents_->translate(std::move(asked), named("it"));
  ASSERT_EQ(called.get_future().wait_for(20s), std::future_status::ready);
  clients_.request_stop();
  documents_.reset();  // waits for the thread of the document
  EXPECT_FALSE(kept.expired()) << "what `progress` captured is gone while it is called";
  released.set_value();
}

TEST_F(DocumentTranslatorTest, ADocumentThatWaitsGoesWithItsClient) {
  take_all_threads_of_large();
  MemoryBudget budget(1 << 20);
  auto share = std::make_shared<MemoryBudget::Share>(budget);
  ASSERT_TRUE(share->take(300 << 10));
  std::stop_source leaves;
  auto waits = request({"<p>late</p>" + std::string(300 << 10, ' ')});
  waits.cancelled = leaves.get_token();
  waits.share = std::move(share);
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> still_held = held;
  documents_->translate(std::move(waits),
                        [held = std::move(held), done = named("late")](auto documents, const RequestError* error) {
                          done(std::move(documents), error);
                        });
  EXPECT_EQ(budget.left(), (1 << 20) - (300 << 10)) << "its bytes are held while it waits for a thread";
  EXPECT_FALSE(still_held.expired());
  leaves.request_stop();
  EXPECT_EQ(budget.left(), 1 << 20);
  EXPECT_TRUE(still_held.expired()) << "all of it goes at once";

  clients_.request_stop();
  translator_.release();
  documents_.reset();
  queue_.reset();
  EXPECT_THAT(ended(), ElementsAre());
  for (const auto& question : translator_.questions()) ASSERT_NE(question.source, "late") << "work for nobody";
}

TEST_F(DocumentTranslatorTest, TextsThatAreStillInTheQueueAreHeld) {
  MemoryBudget budget(100);
  auto share = std::make_shared<MemoryBudget::Share>(budget);
  ASSERT_TRUE(share->take(60));
  auto asked = request({"<p>ab</p>"});
  asked.share = std::move(share);
  translator_.hold();
  documents_->translate(std::move(asked), named("it"));
  translator_.wait_for_batches(1);
  clients_.request_stop();
  documents_.reset();  // waits for the thread of the document
  EXPECT_EQ(budget.left(), 40);
  translator_.release();
  queue_.reset();
  EXPECT_EQ(budget.left(), 100);
}

TEST_F(DocumentTranslatorTest, FragmentsOfARequestAreTranslatedTogether) {
  documents_->translate(request({"<p>ab</p><p>cd</p>", "", "12", "<b>ef</b>"}), named("four"));
  ASSERT_TRUE(test::eventually([&] { return !ended().empty(); }));
  EXPECT_THAT(ended(), ElementsAre("four: <p>ba</p><p>dc</p>  12 <b>fe</b>"));
  EXPECT_THAT(translator_.batches(), ElementsAre(ElementsAre("ab", "cd", "ef")));
}

TEST_F(DocumentTranslatorTest, TheDeathOfAReaderIsThatOfItsDocumentAlone) {
  auto document = request({"ab\n"});
  document.format = DocumentFormat::kText;
  translator_.hold();
  documents_->translate(document, named("damaged"));
  translator_.wait_for_batches(1);
  const auto readers = test::child_processes();
  ASSERT_EQ(readers.size(), 1);
  ASSERT_EQ(::kill(readers.front(), SIGSEGV), 0);
  translator_.release();
  ASSERT_TRUE(test::eventually([&] { return ended().size() == 1; }));
  documents_->translate(document, named("sound"));
  ASSERT_TRUE(test::eventually([&] { return ended().size() == 2; }));
  EXPECT_THAT(ended(), ElementsAre("damaged: 400", "sound: ba\n"));
}

// SIGKILL is what its limits and a system without memory send.
TEST_F(DocumentTranslatorTest, AReaderEndsWithItsClientAndOneThatTakesTooMuchIs413) {
  auto document = request({"ab\n"});
  document.format = DocumentFormat::kText;
  translator_.hold();
  documents_->translate(document, named("large"));
  std::stop_source leaves;
  auto left = document;
  left.cancelled = leaves.get_token();
  documents_->translate(left, named("left"));
  ASSERT_TRUE(test::eventually([&] { return test::child_processes().size() == 2; }));
  leaves.request_stop();
  ASSERT_TRUE(test::eventually([&] { return test::child_processes().size() == 1; }));
  ASSERT_EQ(::kill(test::child_processes().at(0), SIGKILL), 0);
  translator_.release();
  ASSERT_TRUE(test::eventually([&] { return ended().size() == 1; }));
  EXPECT_THAT(ended(), ElementsAre("large: 413"));
}

TEST_F(DocumentTranslatorTest, ManyFragmentsOfOneLeaveRoomForThoseOfOthers) {
  translator_.hold();
  documents_->translate(request(std::vector<std::string>(1000, "<p>ab</p>")), named("many"));
  translator_.wait_for_batches(1);
  ASSERT_TRUE(waiting_becomes(64)) << "a part of it, 128 texts, of which the translator has taken 64";
  documents_->translate(request({"<p>other</p>"}), named("one"));
  ASSERT_TRUE(waiting_becomes(65)) << "the others wait until all of it is done";
  translator_.release();
  ASSERT_TRUE(test::eventually([&] { return ended().size() == 2; }));
  EXPECT_THAT(ended(), testing::Contains("one: <p>rehto</p>"));
  EXPECT_THAT(translator_.batches().at(1), testing::Contains("other")) << "it is in the next batch";
}

}  // namespace
}  // namespace nmt::document_translator_test
