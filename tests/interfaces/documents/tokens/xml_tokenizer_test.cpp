#include "documents/tokens/xml_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "support.h"

namespace nmt::documents::xml_tokenizer_test {
namespace {

TEST(XmlTokenizer, NamesTheElementThatIsNotClosed) {
  for (const auto& [document, message] :
       {std::pair("<a>\n<b>\n</a>", "XML, line 2: <b> is not closed before </a>; correct the file"),
        {"<a>\n<b><c></b></a>", "XML, line 2: <c> is not closed before </b>; correct the file"},
        {"<a>\n</b></a>", "XML, line 2: </b> closes no element; correct the file"},
        {"<a></a>\n</a>", "XML, line 2: </a> closes no element; correct the file"},
        {"<a>\n<b></b>", "XML, line 1: <a> is not closed; correct the file"}})
    EXPECT_EQ(test::message_of<Error>([&] { tokenize_xml(document, 10, "XML"); }), message) << document;
}

}  // namespace
}  // namespace nmt::documents::xml_tokenizer_test
