#include "evaluation/contrastive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "evaluation/test_loss.h"
#include "evaluation/tiny_model.h"
#include "support.h"

namespace nmt::contrastive_test {
namespace {

using test::message_of;
using test::save_tiny_model;

class ContrastiveTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(folder_ / "items.tsv", std::ios::binary) << text;
    return folder_ / "items.tsv";
  }
  test::TemporaryDirectory folder_;
};

TEST_F(ContrastiveTest, IsReadWithAndWithoutCategories) {
  const auto plain = read_contrastive(write("a b\tb\tc\nc\ta\tb\td e\r\n"), false);
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].source, "a b");
  EXPECT_EQ(plain[1].right, "a");
  EXPECT_EQ(plain[1].wrong, (std::vector<std::string>{"b", "d e"}));
  EXPECT_EQ(plain[1].category, "");
  const auto sorted = read_contrastive(write("number\ta b\tb\tc\td\n"), true);
  EXPECT_EQ(sorted[0].category, "number");
  EXPECT_EQ(sorted[0].source, "a b");
  EXPECT_EQ(sorted[0].wrong, (std::vector<std::string>{"c", "d"}));
}

TEST_F(ContrastiveTest, IsRefusedByItsLine) {
  const auto message = [&](const std::string& text, bool categories = false) {
    const auto file = write(text);
    auto line = message_of<Error>([&] { read_contrastive(file, categories); });
    const auto at = line.find(file.string());
    return at == line.npos ? line : line.replace(at, file.string().size(), "F");
  };
  EXPECT_EQ(message("a\tb\tc\na\tb\n"),
            "--contrastive F:2: 2 columns; write source, right and wrong translation, separated by tabs");
  EXPECT_EQ(message("a\tb\tc\n", true),
            "--contrastive F:1: 3 columns; write category, source, right and wrong translation, separated by tabs");
  EXPECT_EQ(message("a\tb\t \n"), "--contrastive F:1: has an empty column");
  EXPECT_EQ(message("a\tb\tc\t\n"), "--contrastive F:1: has an empty column");
  EXPECT_EQ(message("a\tb\t\xff\n"), "--contrastive F:1: not UTF-8 at byte 5; convert the file");
  EXPECT_EQ(message(""), "--contrastive F: holds no lines");
}

TEST_F(ContrastiveTest, CountsWhatTeacherForcingFindsMoreProbable) {
  const auto loaded =
      load_model(save_tiny_model(folder_ / "model", test::kTinyTransformer), torch::Device(torch::kCPU));
  const auto log_probability = [&](const std::string& source, const std::string& target) {
    const auto loss = test_loss(*loaded.model, loaded, {.sources = {source}, .references = {{target}}});
    return -loss.loss * static_cast<double>(loss.target_tokens);
  };
  const std::vector<std::string> texts = {"a b c", "b", "c d e f", "h g", "a"};
  std::vector<ContrastiveItem> items;
  ContrastiveAccuracy expected;
  for (const auto& source : texts)
    for (size_t right = 0; right < texts.size(); ++right) {
      items.push_back({"odd", source, texts[right], {texts[(right + 1) % 5]}});
      if (right % 2 == 0) items.back().category = "even", items.back().wrong.push_back(texts[(right + 2) % 5]);
      bool is_right = true;
      for (const auto& wrong : items.back().wrong)
        is_right &= log_probability(source, texts[right]) > log_probability(source, wrong);
      for (auto* count : {&expected.all, &expected.categories[items.back().category]})
        count->right += is_right, ++count->items;
    }
  auto options = translator_options(loaded.config);
  options.search.length_penalty = 0;
  const auto found = contrastive_accuracy(items, Translator(*loaded.model, loaded.codec, options));
  EXPECT_EQ(found.format(3), expected.format(3));
  EXPECT_GT(found.all.right, 0);
  EXPECT_LT(found.all.right, found.all.items);
  EXPECT_EQ(found.categories.at("even").items, 15);
  const std::vector<ContrastiveItem> equal = {{"", "a", "b c", {"b c"}}};
  EXPECT_EQ(contrastive_accuracy(equal, Translator(*loaded.model, loaded.codec, options)).format(2),
            "contrastive accuracy = 0.00 (0 of 1)\n");
}

}  // namespace
}  // namespace nmt::contrastive_test
