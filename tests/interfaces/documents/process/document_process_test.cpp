#include "documents/process/document_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "child_processes.h"
#include "documents/packages/packages.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::document_process_test {
namespace {

using test::child_processes;
using test::message_of;
using testing::HasSubstr;

/// Translates while the reader is killed.
TranslateTexts killing(int signal) {
  return [signal](std::span<const std::string> texts) {
    ::kill(child_processes().at(0), signal);
    return test::shout(texts);
  };
}

std::string html(const TranslateTexts& translate, const DocumentLimits& limits = {},
                 const std::string& text = "<p>one <b>two</b></p>") {
  return translate_document_apart(DocumentFormat::kHtml, text, translate, limits);
}

class DocumentProcessTest : public testing::Test {
 protected:
  ~DocumentProcessTest() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left over";
    EXPECT_EQ(errno, ECHILD);
  }
};

TEST_F(DocumentProcessTest, TranslatesAsInThisProcess) {
  EXPECT_EQ(html(test::reverse_words), "<p><b>TWO</b> ONE</p>");
  const auto bytes = test::docx_of("<w:p><w:r><w:t>a b</w:t></w:r></w:p>");
  EXPECT_EQ(translate_document_apart(DocumentFormat::kDocx, bytes, test::shout),
            translate_document(DocumentFormat::kDocx, bytes, test::shout));
  EXPECT_EQ(html(test::shout, {}, ""), "");
}

TEST_F(DocumentProcessTest, HandsWarningsOn) {
  const std::string xliff =
      "<xliff version=\"1.2\"><trans-unit id=\"1\"><source>a</source><target "
      "state=\"new\">b</target></trans-unit></xliff>";
  std::vector<std::string> warnings;
  EXPECT_EQ(translate_document_apart(DocumentFormat::kXliff, xliff, test::shout, {}, {}, &warnings), xliff);
  EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("left as they are")));
}

TEST_F(DocumentProcessTest, SaysWhatIsWrongWithADocument) {
  const auto refusal = [](auto translate) {
    return message_of<Error>([&] { translate(DocumentFormat::kXliff, "<a>b</a>", test::shout, DocumentLimits{}); });
  };
  EXPECT_EQ(refusal([](auto... all) { translate_document_apart(all...); }),
            refusal([](auto... all) { translate_document(all...); }));
}

TEST_F(DocumentProcessTest, ADocumentThatAsksForTooMuchIsRefusedAndTheNextIsRead) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "a build with sanitizers has no limits";
#endif
#endif
  std::string many;
  while (many.size() < 8 << 20) many += "<b>a</b><p>";
  EXPECT_THAT(message_of<DocumentTooLarge>([&] { html(test::shout, {.answer_bytes = 20}); }), HasSubstr("20 bytes"));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_THAT(message_of<DocumentTooLarge>([&] { html(test::shout, {.memory = 128 << 20}, many); }),
              HasSubstr("more memory"));
#endif
  EXPECT_EQ(html(test::shout), "<p>ONE <b>TWO</b></p>");
}

TEST_F(DocumentProcessTest, ItsDeathIsThatOfTheDocumentAlone) {
  EXPECT_THAT(message_of<DocumentTooLarge>([] { html(killing(SIGXCPU)); }), HasSubstr("processor time"));
  EXPECT_THAT(message_of<Error>([] { html(killing(SIGSEGV)); }), HasSubstr("the document is damaged"));
  EXPECT_EQ(html(test::shout), "<p>ONE <b>TWO</b></p>");
}

TEST_F(DocumentProcessTest, EndsWithItsCall) {
  const auto fail = [](std::span<const std::string>) -> std::vector<AlignedTranslation> {
    throw std::invalid_argument("nobody waits");
  };
  EXPECT_EQ(message_of<std::invalid_argument>([&] { html(fail); }), "nobody waits");
  const auto stop = [](std::span<const std::string> texts) {
    ::kill(child_processes().at(0), SIGSTOP);
    return test::shout(texts);
  };
  int checks = 0;
  const auto check = [&] {
    if (++checks == 2) throw std::invalid_argument("cancelled");
  };
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { translate_document_apart(DocumentFormat::kHtml, "<p>a</p>", stop, {}, check); }),
            "cancelled");
}

}  // namespace
}  // namespace nmt::document_process_test
