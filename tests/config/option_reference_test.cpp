#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "base/files/file.h"
#include "config/option_listing.h"
#include "config/option_table.h"
#include "support.h"

namespace nmt::option_reference_test {
namespace {

using testing::HasSubstr;

TEST(OptionReference, HasALineForEveryOption) {
  const std::string reference = option_reference();
  for (const Section& section : sections())
    EXPECT_THAT(reference, HasSubstr("\n## " + std::string(section.name) + "\n"));
  for (const Option& option : options()) EXPECT_THAT(reference, HasSubstr("| `" + std::string(option.name) + "` | "));
  EXPECT_THAT(reference,
              HasSubstr("| `dropout_rate` | number | `0.3` | at least 0 and below 1 | no | dropout at every "));
  EXPECT_THAT(reference, HasSubstr("| `beam_size` | whole number | `4` | at least 1 and at most 1000 | yes | "));
}

TEST(OptionReference, BeginsWithTheTwelveThatMatterMost) {
  const std::string reference = option_reference();
  const std::string start = reference.substr(0, reference.find("\n## data\n"));
  EXPECT_THAT(start, HasSubstr("\n## Start here\n"));
  EXPECT_EQ(std::ranges::count(start, '\n') - std::ranges::count(start.substr(0, start.find("| --- |")), '\n'), 12 + 1);
  EXPECT_THAT(start, HasSubstr("\n| `data.vocab_size` | whole number | "));
}

TEST(OptionReference, IsWhatDocsOptionsSays) {
  const auto path = test::source_directory() / "docs" / "options.md";
  if (std::getenv("NMT_UPDATE_DOCS")) write_file_atomically(path, option_reference());
  ASSERT_TRUE(std::filesystem::exists(path)) << "run this test with NMT_UPDATE_DOCS=1 to write docs/options.md";
  EXPECT_TRUE(read_file(path) == option_reference()) << "docs/options.md is out of date: run this test once with "
                                                        "NMT_UPDATE_DOCS=1 (and NMT_SOURCE_DIR=REPOSITORY) and "
                                                        "commit the file";
}

TEST(OptionsAbout, FindsNamesAndHelpInAnyCase) {
  const std::string found = options_about("Warmup");
  EXPECT_TRUE(found.find("training.warmup_steps: 4000 (whole number; at least ") != std::string::npos) << found;
  EXPECT_TRUE(options_about("bpe-dropout").find("training.bpe_dropout2: 0 (number") != std::string::npos);
  EXPECT_EQ(options_about("no such word"), "");
}

}  // namespace
}  // namespace nmt::option_reference_test
