#include "manual/man_pages.h"

#include <gmock/gmock.h>

#include "base/process/programs.h"
#include "config/option_table.h"
#include "manual/roff.h"

namespace nmt::man_pages_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const ManualEdition kEdition{.version = "1.2.3", .date = "2026-11-24"};

ProgramDescription program() {
  return {
      .name = "nmt-train",
      .description = "Trains.",
      .usage = "[OPTIONS]",
      .examples = "Examples:\n  nmt-train -c a.yaml",
      .options = {
          {.names = {"-c", "--config"}, .value = "CONFIG", .help = "configuration file", .group = "Options"},
          {.names = {"--device"}, .value = "auto|cpu", .choices = {"auto", "cpu"}, .help = "where", .group = "Machine"},
          {.names = {"--form"},
           .value = "NAME",
           .choices = {"a", "b"},
           .help = "how",
           .group = "Machine",
           .default_value = "a",
           .environment = "NMT_FORM"}}};
}

TEST(ManPage, SaysWhatTheTableSays) {
  const auto page = man_page(program(), kEdition);
  EXPECT_THAT(page, testing::StartsWith(".TH NMT\\-TRAIN 1 2026-11-24 \"nmt 1.2.3\""));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nnmt\\-train \\- train a model"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-c\\fR, \\fB\\-\\-config\\fR \\fICONFIG\\fR\nconfiguration file.\n"));
  EXPECT_THAT(page, HasSubstr(".SS Machine\n.TP\n\\fB\\-\\-device\\fR \\fIauto|cpu\\fR\nwhere.\n"));
  EXPECT_THAT(page, HasSubstr("how. One of a, b. Default: a.\n"));
  EXPECT_THAT(page, HasSubstr(".SH ENVIRONMENT\n.TP\n\\fBNMT_FORM\\fR\nAs \\-\\-form.\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\nnmt\\-train \\-c a.yaml\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".BR nmt\\-config (5)\n"));
  EXPECT_THAT(page, Not(HasSubstr(".BR nmt\\-train (1)")));  // no page points to itself
}

TEST(ManPage, AProgramWithItsOwnExitCodesSaysThem) {
  auto own = program();
  EXPECT_THAT(man_page(own, kEdition), HasSubstr("Stopped by SIGINT or SIGTERM."));
  own.exit_status = "17: another number of fields.";
  EXPECT_THAT(man_page(own, kEdition), HasSubstr(".SH EXIT STATUS\n17: another number of fields.\n.SH"));
}

TEST(ManPage, TheFrontDoorNamesEveryCommand) {
  const auto page = front_door_page(kEdition);
  for (const auto& [name, summary] : kPrograms) {
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB" + std::string(name) + "\\fR\n"));
    EXPECT_THAT(page, HasSubstr(".BR nmt\\-" + std::string(name) + " (1) ,\n"));
  }
}

TEST(ManPage, TheConfigurationHasEveryOption) {
  const auto page = configuration_page(kEdition);
  for (const Option& option : options()) EXPECT_THAT(page, HasSubstr(".TP\n" + roff_bold(option.key()) + "\n"));
  EXPECT_THAT(page, HasSubstr(".SH DECODING\n"));
  EXPECT_THAT(page, HasSubstr("hypotheses a sentence; 1 = greedy. (whole number; default 4;"));
}

}  // namespace
}  // namespace nmt::man_pages_test
