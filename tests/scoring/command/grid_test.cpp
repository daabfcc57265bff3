#include "scoring/command/results_table.h"
#include "support.h"

namespace nmt::scoring::grid_test {
namespace {

// Expected tables were printed by tabulate 0.10.
TEST(Grid, DrawsCellsOfSeveralLines) {
  const Grid grid{.titles = {"System", "BLEU (μ ± 95% CI)"},
                  .columns = {{"Baseline: a", "bé"}, {"26.6 (26.6 ± 0.6)", "26.1 (26.1 ± 0.7)\n(p = 0.0120)*"}}};
  EXPECT_EQ(format_grid(grid, GridStyle::kFancy),
            "╒═════════════╤═════════════════════╕\n"
            "│      System │  BLEU (μ ± 95% CI)  │\n"
            "╞═════════════╪═════════════════════╡\n"
            "│ Baseline: a │  26.6 (26.6 ± 0.6)  │\n"
            "├─────────────┼─────────────────────┤\n"
            "│          bé │  26.1 (26.1 ± 0.7)  │\n"
            "│             │    (p = 0.0120)*    │\n"
            "╘═════════════╧═════════════════════╛");
}

TEST(Grid, WritesLatexWithEscapes) {
  const Grid grid{.titles = {"System", "BLEU (95%)"}, .columns = {{"a_b & {c}~", "^\\<x>"}, {"1.5 (x)", "2"}}};
  EXPECT_EQ(format_grid(grid, GridStyle::kLatex),
            "\\begin{tabular}{rc}\n"
            "\\toprule\n"
            "     System &  BLEU (95\\%)  \\\\\n"
            "\\midrule\n"
            " a\\_b \\& \\{c\\}\\textasciitilde{} &   1.5 (x)    \\\\\n"
            "      \\^{}\\textbackslash{}\\ensuremath{<}x\\ensuremath{>} &      2       \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}");
}

TEST(Grid, GivesColoursNoRoom) {
  const Grid grid{.titles = {"\x1b[36mS\x1b[0m"}, .columns = {{"\x1b[33mBaseline\x1b[0m", "b"}}};
  EXPECT_EQ(format_grid(grid, GridStyle::kFancy),
            "╒══════════╕\n"
            "│        \x1b[36mS\x1b[0m │\n"
            "╞══════════╡\n"
            "│ \x1b[33mBaseline\x1b[0m │\n"
            "├──────────┤\n"
            "│        b │\n"
            "╘══════════╛");
}

}  // namespace
}  // namespace nmt::scoring::grid_test
