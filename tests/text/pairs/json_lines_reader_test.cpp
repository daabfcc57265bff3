#include <gmock/gmock.h>

#include "base/error.h"
#include "support.h"
#include "text/files.h"
#include "text/pairs/corpus_reader.h"
#include "text/pairs/line_pairs_readers.h"

namespace nmt::json_lines_reader_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::write_gzip;
using test::write_text;
using testing::ElementsAre;
using testing::Pair;

using Pairs = std::vector<std::pair<std::string, std::string>>;

class JsonLinesReaderTest : public testing::Test {
 protected:
  CorpusFiles files(const std::filesystem::path& path) const { return {path, path, "data.train1", "data.train2"}; }
  Pairs read(const CorpusFiles& files, Utf8Policy policy = Utf8Policy::kStop) {
    CorpusReader reader(files, {.source_language = "de", .target_language = "en-GB", .utf8 = policy});
    Pairs pairs;
    for (TextPair pair; reader.next(pair);) pairs.emplace_back(pair.source, pair.target);
    repaired_ = reader.repaired_lines();
    return pairs;
  }
  Pairs read(std::string_view content, Utf8Policy policy = Utf8Policy::kStop) {
    return read(files(write_text(folder_ / "a.jsonl", content)), policy);
  }
  /// What is said of such a second line.
  std::string refusal(std::string_view line) {
    return message_of<Error>([&] {
      read(R"({"source": "a", "target": "b"})"
           "\n" +
           std::string(line));
    });
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryDirectory folder_;
  int64_t repaired_ = 0;
};

TEST_F(JsonLinesReaderTest, ReadsSidesUnderTheirNamesOrLanguages) {
  EXPECT_THAT(read(R"({"source": "eins", "target": "one"}
{"id": 7, "en-GB": "two", "de": "zwei", "meta": {"source": "web"}}
{"translation": {"de": "drei", "en-GB": "three"}, "source": "books"}
{"translation": "no object", "source": "vier", "target": "four"}
)"),
              ElementsAre(Pair("eins", "one"), Pair("zwei", "two"), Pair("drei", "three"), Pair("vier", "four")));
}

TEST_F(JsonLinesReaderTest, TheLanguageComesBeforeTheSide) {
  EXPECT_THAT(read(R"({"de": "eins", "source": "Tatoeba", "target": "one"})"), ElementsAre(Pair("eins", "one")));
}

TEST_F(JsonLinesReaderTest, UnescapesTextAndKeepsItOnOneLine) {
  EXPECT_THAT(read(R"({"source": "\"gr\u00fc\u00DFe\"\t\ud83d\ude00", "target": "a\nb\r\nc"})"
                   "\r\n\n  \n"),
              ElementsAre(Pair("\"gr\u00FC\u00DFe\"\t\U0001F600", "a b  c")));
}

TEST_F(JsonLinesReaderTest, ReadsGzipAndOneFileAlone) {
  const auto packed = write_gzip(folder_ / "b.jsonl.gz", R"({"source": "a", "target": ""})");
  EXPECT_THAT(read(files(packed)), ElementsAre(Pair("a", "")));
  CorpusFiles alone = files(packed);
  alone.target.clear();
  EXPECT_THAT(read(alone), ElementsAre(Pair("a", "")));
  EXPECT_EQ(alone.name(), "b.jsonl.gz");
  EXPECT_EQ(files(packed).name(), "b.jsonl.gz");
  EXPECT_EQ(CorpusReader(alone, {}).description(), path("b.jsonl.gz") + " (JSON lines)");
}

TEST_F(JsonLinesReaderTest, SaysWhatIsWrongAndWhere) {
  const std::string place = "data.train1 " + path("a.jsonl") + ":2: ";
  const std::string form = R"(; a line is {"source": "...", "target": "..."}, or has the keys "de", "en-GB")";
  for (const char* line :
       {"source\ttarget", R"(["a", "b"])", R"({"source": "a", "target": "b")", R"({"source": "a"} {"target": "b"})"})
    EXPECT_EQ(refusal(line), place + "is no JSON object" + form) << line;
  EXPECT_EQ(refusal(R"({"a": "\ud800"})"),
            place + R"(is no JSON object, or one with half of a pair of \ud800 to \udfff)" + form);
  EXPECT_EQ(refusal(R"({"source": "a", "text": "b"})"), place + R"(has neither "en-GB" nor "target")" + form);
  EXPECT_EQ(refusal(R"({"source": ["a"], "target": "b"})"), place + R"("source" is no text)" + form);
  EXPECT_EQ(refusal(R"({"de": null, "target": "b"})"), place + R"("de" is no text)" + form);
  EXPECT_EQ(message_of<Error>([&] { read("\n"); }),
            "data.train1 " + path("a.jsonl") + ": has no sentence; check the file");
}

TEST_F(JsonLinesReaderTest, AKeyMayStandInEachOfSeveralObjects) {
  EXPECT_THAT(read(R"({"m": {"source": 1}, "n": [{"source": 2}, {"source": 3}], "source": "a", "target": "b"})"),
              ElementsAre(Pair("a", "b")));
}

TEST_F(JsonLinesReaderTest, IsToldByItsNameOrItsFirstLine) {
  const std::string_view line = R"({"source": "a", "target": "b"})";
  for (const char* name : {"a.ndjson", "a.json", "a.txt", "a"}) {
    EXPECT_THAT(read(files(write_text(folder_ / name, line))), ElementsAre(Pair("a", "b"))) << name;
    EXPECT_THAT(read(files(write_gzip(folder_ / (std::string(name) + ".gz"), line))), ElementsAre(Pair("a", "b")));
  }
  EXPECT_THAT(read(files(write_text(folder_ / "b", "\uFEFF\n { \"en-GB\": \"b\", \"de\": \"a\"}\n"))),
              ElementsAre(Pair("a", "b")));
  EXPECT_THAT(read(files(write_text(folder_ / "c", R"({"translation": {"de": "a", "en-GB": "b"}})"))),
              ElementsAre(Pair("a", "b")));
  // What is no such object is text, but in a file that says JSON.
  for (const char* text : {"{a}\n", "{\"a\": 1}\n", "{\"source\": \"a\"}\n", "[1]\n", "{\n"}) {
    EXPECT_EQ(read(files(write_text(folder_ / "text", text))).size(), 1u) << text;
    EXPECT_THAT(message_of<Error>([&] { read(files(write_text(folder_ / "list.json", text))); }),
                testing::StartsWith("data.train1 " + path("list.json") + ":1: "));
  }
  EXPECT_THAT(message_of<Error>([&] { read(files(folder_ / "none.json")); }), testing::StartsWith("data.train1 "));
}

TEST_F(JsonLinesReaderTest, RefusesNul) {
  EXPECT_THAT(refusal(R"({"source": "a\u0000b", "target": "b"})"), testing::HasSubstr(R"(:2: "source" holds NUL;)"));
}

TEST_F(JsonLinesReaderTest, StopsAtOrRepairsBytesThatAreNotUtf8) {
  EXPECT_EQ(refusal("{\"source\": \"\xFC\", \"target\": \"b\"}"),
            "data.train1 " + path("a.jsonl") +
                ":2: byte 13 (0xFC) is not UTF-8; correct or convert the file (iconv), or set data.repair_utf8: true");
  EXPECT_THAT(read("{\"source\": \"\xFC\", \"target\": \"b\"}", Utf8Policy::kRepair), ElementsAre(Pair("\uFFFD", "b")));
  EXPECT_EQ(repaired_, 1);
}

TEST_F(JsonLinesReaderTest, StandsBesideNoOtherFile) {
  const auto json = write_text(folder_ / "a.jsonl", "{}"), text = write_text(folder_ / "b", "b\n");
  const auto message = [&](const std::filesystem::path& source, const std::filesystem::path& target) {
    return message_of<Error>([&] { CorpusReader({source, target, "data.eval1", "data.eval2"}, {}); });
  };
  EXPECT_EQ(message(json, text), "data.eval1 " + path("a.jsonl") + ": holds both sides; name it in data.eval2, too");
  EXPECT_EQ(message(text, json), "data.eval2 " + path("a.jsonl") + ": holds both sides; name it in data.eval1, too");
  EXPECT_EQ(message(folder_ / "none.jsonl", folder_ / "none.jsonl").substr(0, 11), "data.eval1 ");
}

}  // namespace
}  // namespace nmt::json_lines_reader_test
