#include "report/html/run_comparison.h"

#include <gmock/gmock.h>

#include "support.h"

namespace nmt::run_comparison_test {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecords run(const std::string& name, double bleu, std::vector<std::string> hypotheses) {
  RunRecords records{.name = name};
  for (int64_t update = 10; update <= 100; update += 10)
    records.intervals.push_back(
        {{.update = update, .loss = 5 - bleu / 100, .perplexity = 50, .accuracy = 0.5, .learning_rate = 1e-3}, 1000});
  records.validations = {{.update = 100,
                          .loss = 4.25,
                          .perplexity = 70.5,
                          .accuracy = 0.45,
                          .has_bleu = true,
                          .bleu = bleu,
                          .is_best = true,
                          .weights = name == "b" ? "average of updates 50, 100" : ""}};
  records.shown = records.validations.front();
  records.shown->sources = {"eins", "zwei & drei", "vier"};
  records.shown->references = {"one thing", "two and three", "four of them"};
  records.shown->hypotheses = std::move(hypotheses);
  records.changed = {{"training.lr", "0.001", name, false}, {"model.d_ff", "2048", "64", false}};
  return records;
}

RunRecords first() {
  auto records = run("a<", 20.5, {"one thing", "two", "four"});
  records.changed.push_back({"data.lowercase", "false", "true", false});
  return records;
}
RunRecords second() { return run("b", 21.5, {"one", "two and three", "four"}); }

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  return from == text.npos ? "" : text.substr(from, text.find(end, from) - from);
}

TEST(RunComparison, DrawsTheCurvesOfBothInFourColours) {
  const auto page = run_comparison(first(), second());
  const auto loss = between(page, "<h3>Loss", "</figure>");
  EXPECT_THAT(loss, HasSubstr("<span class=\"series-1\">a&lt;: training</span>"));
  EXPECT_THAT(loss, HasSubstr("<span class=\"series-2\">a&lt;: validation</span>"));
  EXPECT_THAT(loss, HasSubstr("<span class=\"series-3\">b: training</span>"));
  EXPECT_THAT(loss, HasSubstr("<span class=\"series-4\">b: validation, averaged weights</span>"));
  EXPECT_THAT(between(page, "<h3>BLEU", "</figure>"), HasSubstr("[100.0,21.5]"));
  auto without = second();
  without.intervals.clear();
  EXPECT_THAT(between(run_comparison(without, first()), "<h3>Learning rate", "</figure>"), HasSubstr("series-3"));
}

TEST(RunComparison, ShowsValidationsAndOptionsThatDiffer) {
  const auto page = run_comparison(first(), second());
  const auto best = between(page, "<h2>Best validations", "</section>");
  EXPECT_THAT(best, HasSubstr("a&lt;<td class=\"text\">update 100<td>4.250<td>70.50<td>45.0%<td>20.50"));
  EXPECT_THAT(best, HasSubstr("b<td class=\"text\">update 100, average of updates 50, 100<td>4.250"));
  const auto options = between(page, "<h2>Options that differ", "</section>");
  EXPECT_THAT(options, HasSubstr("<code>training.lr</code><td class=\"text\">a&lt;<td class=\"text\">b</tr>"));
  EXPECT_THAT(options, HasSubstr("<code>data.lowercase</code><td class=\"text\">true<td class=\"text\">false</tr>"));
  EXPECT_THAT(options, Not(HasSubstr("d_ff")));
}

TEST(RunComparison, ShowsTheSentencesThatDifferMost) {
  const auto section = between(run_comparison(first(), second()), "<h2>Sentences that differ", "</section>");
  EXPECT_THAT(section, HasSubstr("b is better in 1 and a&lt; in 1 of 3 sentences"));
  const auto gained = between(section, "<h3>b is better", "</ol>"),
             lost = between(section, "<h3>a&lt; is better", "</ol>");
  EXPECT_THAT(gained, HasSubstr("and 100.0 <span>sentence 2</span>"));
  EXPECT_THAT(gained,
              HasSubstr("<dd>zwei &amp; drei<dt>reference<dd>two and three<dt>a&lt;<dd>two<dt>b<dd>two and three"));
  EXPECT_THAT(lost, HasSubstr("chrF 100.0 and"));
  EXPECT_THAT(lost, HasSubstr("sentence 1</span>"));
  EXPECT_THAT(section, Not(HasSubstr("sentence 3</span>")));
  auto other = second();
  other.shown->sources.front() = "something else";
  EXPECT_THAT(run_comparison(first(), other), HasSubstr("no translations of the same sentences"));
}

}  // namespace
}  // namespace nmt::run_comparison_test
