#include "scoring/command/results_table.h"

#include "support.h"

namespace nmt::scoring::results_table_test {
namespace {

const Signature kSignature({.references = 1}, {{"case", "c", "lc"}});

PairedTable example() {
  PairedTable table{.systems = {"Baseline: a", "b"}, .kind = PairedTestKind::kApproximateRandomization, .samples = 10};
  table.columns.push_back({.metric = "BLEU",
                           .signature = kSignature,
                           .results = {{.score = 26.595}, {.score = 26, .p_value = 0.0192980701}}});
  table.columns.push_back(
      {.metric = "chrF2", .signature = kSignature, .results = {{.score = 55.5}, {.score = 100, .p_value = 0.25}}});
  return table;
}

TEST(ResultsTable, MarksSignificantDifferences) {
  const std::string text = format_results(example(), {.width = 2});
  EXPECT_NE(text.find("(p = 0.0193)*"), std::string::npos);
  EXPECT_NE(text.find("(p = 0.2500)"), std::string::npos);
  EXPECT_EQ(text.find("(p = 0.2500)*"), std::string::npos);
  EXPECT_NE(text.find("Paired approximate randomization test with 10 trials\n"), std::string::npos);
  EXPECT_NE(text.find(" - BLEU       nrefs:1|case:lc|version:2.6.0\n"), std::string::npos);
}

TEST(ResultsTable, WritesJsonWithAllDigits) {
  EXPECT_EQ(format_results(example(), {.style = TableStyle::kJson}),
            "[\n"
            "    {\n"
            "        \"system\": \"Baseline: a\",\n"
            "        \"BLEU\": {\n"
            "            \"score\": 26.595,\n"
            "            \"p_value\": null,\n"
            "            \"mean\": null,\n"
            "            \"ci\": null\n"
            "        },\n"
            "        \"chrF2\": {\n"
            "            \"score\": 55.5,\n"
            "            \"p_value\": null,\n"
            "            \"mean\": null,\n"
            "            \"ci\": null\n"
            "        }\n"
            "    },\n"
            "    {\n"
            "        \"system\": \"b\",\n"
            "        \"BLEU\": {\n"
            "            \"score\": 26.0,\n"
            "            \"p_value\": 0.0192980701,\n"
            "            \"mean\": null,\n"
            "            \"ci\": null\n"
            "        },\n"
            "        \"chrF2\": {\n"
            "            \"score\": 100.0,\n"
            "            \"p_value\": 0.25,\n"
            "            \"mean\": null,\n"
            "            \"ci\": null\n"
            "        }\n"
            "    }\n"
            "]\n");
}

TEST(ResultsTable, WritesPlainScores) {
  const PairedTable table{.systems = {"é", "1.75"},
                          .columns = {{"BLEU", kSignature, {{.score = 1.25}, {.score = 100}}}}};
  EXPECT_EQ(format_results(table, {.style = TableStyle::kJson, .width = 1}),
            "[\n"
            "    {\n"
            "        \"system\": \"\\u00e9\",\n"
            "        \"BLEU\": \"1.2\"\n"
            "    },\n"
            "    {\n"
            "        \"system\": \"1.75\",\n"
            "        \"BLEU\": \"100.0\"\n"
            "    }\n"
            "]\n");
  EXPECT_EQ(format_results(table, {.style = TableStyle::kText, .width = 1, .short_signatures = true}),
            "╒══════════╤════════╕\n"
            "│   System │  BLEU  │\n"
            "╞══════════╪════════╡\n"
            "│        é │  1.2   │\n"
            "├──────────┼────────┤\n"
            "│     1.75 │ 100.0  │\n"
            "╘══════════╧════════╛\n"
            "\n"
            "-----------------\n"
            "Metric signatures\n"
            "-----------------\n"
            " - BLEU       #:1|c:lc|v:2.6.0\n");
}

TEST(ResultsTable, PaintsForATerminal) {
  const std::string text = format_results(example(), {.width = 1, .colors = true});
  EXPECT_NE(text.find("\x1b[33mBaseline: a\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("\x1b[33m26.6\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("\x1b[31m(p = 0.2500)\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("\x1b[36mchrF2\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("that the \x1b[32mnull hypothesis\x1b[0m is correct"), std::string::npos);
}

TEST(SingleResults, AlignAtTheEqualsSign) {
  EXPECT_EQ(format_single_results({"BLEU|x = 1", "chrF2 = 22"}, {}), "BLEU|x = 1\n chrF2 = 22\n");
  EXPECT_EQ(format_single_results({"  BLEU = 1"}, {}), "  BLEU = 1\n");
  EXPECT_EQ(format_single_results({"1.0", "2.0"}, {}), "1.0\n2.0\n");
  EXPECT_EQ(format_single_results({"{}", "[]"}, {.style = TableStyle::kJson}), "[\n{},\n[]\n]\n");
  EXPECT_EQ(format_single_results({"{}"}, {.style = TableStyle::kJson}), "{}\n");
}

TEST(SingleResults, PaintIntervals) {
  EXPECT_EQ(format_single_results({"BLEU = 1 (μ = 1.0 ± 0.1) x (y)"}, {.colors = true}),
            "BLEU = 1 \x1b[36m(μ = 1.0 ± 0.1)\x1b[0m x (y)\n");
}

}  // namespace
}  // namespace nmt::scoring::results_table_test
