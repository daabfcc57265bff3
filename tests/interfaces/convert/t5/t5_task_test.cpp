#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "convert/t5/t5_parts.h"
#include "support.h"

namespace nmt::convert::t5_task_test {
namespace {

using test::message_of;
using testing::HasSubstr;

/// The choice in a folder whose config.json has these tasks (JSON; empty: none).
T5Task choose(const std::string& tasks, const T5Choice& choice = {}) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "config.json") << R"({"model_type": "t5")"
                                        << (tasks.empty() ? "" : ", \"task_specific_params\": ") << tasks << "}";
  return choose_t5_task(HuggingFaceConfig(folder.path(), {"t5"}), choice);
}

constexpr const char* kOne = R"({"summarization": {"prefix": "s: "}, "translation_en_to_de": {"prefix": "g: ",
                                 "num_beams": 4}})";
constexpr const char* kTwo =
    R"({"translation_en_to_de": {"prefix": "g: "}, "translation_en_to_pt-BR": {"prefix": "p: "}})";

TEST(ChooseT5Task, TakesTheOnlyTranslation) {
  const auto task = choose(kOne);
  EXPECT_EQ(task.prefix, "g: ");
  EXPECT_EQ(task.source_language, "en");
  EXPECT_EQ(task.target_language, "de");
  EXPECT_EQ(task.settings.number("num_beams"), 4);
}

TEST(ChooseT5Task, TakesTheNamedTask) {
  EXPECT_EQ(choose(kTwo, {.task = "translation_en_to_pt-BR"}).target_language, "pt-BR");
  const auto other = choose(kOne, {.task = "summarization"});
  EXPECT_EQ(other.prefix, "s: ");
  EXPECT_EQ(other.target_language, "tgt");
}

TEST(ChooseT5Task, TakesAPrefixBeforeThatOfATask) {
  const auto own = choose(kTwo, {.source_prefix = "x: "});
  EXPECT_EQ(own.prefix, "x: ");
  EXPECT_EQ(own.source_language, "src");
  const auto both = choose(kTwo, {.task = "translation_en_to_de", .source_prefix = ""});
  EXPECT_EQ(both.prefix, "");
  EXPECT_EQ(both.target_language, "de");
}

TEST(ChooseT5Task, NeedsNone) {
  for (const char* tasks : {"", "{}", "null", "[1]", R"({"summarization": {"prefix": "s: "}})",
                            R"({"translation_en_to_de": 1})", R"({"translation_en_to_de": {"prefix": null}})"})
    EXPECT_EQ(choose(tasks).prefix, "") << tasks;
}

TEST(ChooseT5Task, RefusesWhatIsNotClearOrNotThere) {
  EXPECT_THAT(message_of<Error>([] { choose(kTwo); }),
              HasSubstr("has the translations translation_en_to_de, translation_en_to_pt-BR; choose one with --task"));
  EXPECT_THAT(message_of<Error>([] { choose(kOne, {.task = "x"}); }),
              HasSubstr("has no such task; it has summarization, translation_en_to_de"));
  EXPECT_THAT(message_of<Error>([] { choose("", {.task = "x"}); }), HasSubstr("names no tasks"));
  EXPECT_THAT(message_of<Error>([] { choose(R"({"translation_en_to_de": {"prefix": 1}})"); }),
              HasSubstr("config.json: task_specific_params.translation_en_to_de: prefix is no text"));
}

TEST(ChooseT5Task, MakesNoPathOfALanguage) {
  const auto task = choose(R"({"translation_../a_to_": {"prefix": "x"}})");
  EXPECT_EQ(task.source_language, "---a");
  EXPECT_EQ(task.target_language, "tgt");
}

}  // namespace
}  // namespace nmt::convert::t5_task_test
