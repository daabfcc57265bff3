#include "report/records/run_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace nmt::run_table_test {
namespace {

RunRecords run(const char* name, int64_t update, double loss, double bleu) {
  RunRecords records{.name = name};
  records.validations = {{.update = 1, .loss = 9, .perplexity = 9, .is_best = true},
                         {.update = update,
                          .loss = loss,
                          .perplexity = 8,
                          .accuracy = 0.5,
                          .has_bleu = bleu > 0,
                          .bleu = bleu,
                          .is_best = true},
                         {.update = 9000, .loss = 7}};
  return records;
}

// Figures: statistics.mean and statistics.stdev of Python.
TEST(RunTable, HasMeanAndDeviationOfTheBestValidations) {
  const std::vector<RunRecords> runs = {run("seed-1", 100, 1.5, 41.2), run("seed-22", 300, 1.25, 42.05),
                                        run("seed-3", 200, 1.75, 40.9)};
  EXPECT_EQ(run_table(runs),
            "run            update        loss  perplexity  accuracy %        BLEU\n"
            "seed-1            100      1.5000       8.000       50.00       41.20\n"
            "seed-22           300      1.2500       8.000       50.00       42.05\n"
            "seed-3            200      1.7500       8.000       50.00       40.90\n"
            "mean              200      1.5000       8.000       50.00       41.38\n"
            "deviation         100      0.2500       0.000        0.00        0.60\n");
}

TEST(RunTable, LeavesOutWhatIsNotThere) {
  std::vector<RunRecords> runs = {run("a", 100, 1.5, 41.2)};
  EXPECT_EQ(run_table(runs),
            "run      update        loss  perplexity  accuracy %        BLEU\n"
            "a           100      1.5000       8.000       50.00       41.20\n");
  runs.push_back(run("b", 100, 1.5, 0));
  EXPECT_EQ(run_table(runs),
            "run            update        loss  perplexity  accuracy %        BLEU\n"
            "a                 100      1.5000       8.000       50.00       41.20\n"
            "b                 100      1.5000       8.000       50.00           -\n"
            "mean              100      1.5000       8.000       50.00           -\n"
            "deviation           0      0.0000       0.000        0.00           -\n");
}

}  // namespace
}  // namespace nmt::run_table_test
