#include "report/html/html_report.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/resource.h>

#include <csignal>
#include <sstream>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::html_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

int64_t count(const std::string& text, const std::string& part) {
  int64_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

RunRecords records() {
  RunRecords records{.name = "a<b"};
  for (int64_t update = 10; update <= 1000; update += 10)
    records.intervals.push_back({{.epoch = 1,
                                  .update = update,
                                  .loss = 5.0 - 1e-3 * static_cast<double>(update),
                                  .perplexity = 50,
                                  .accuracy = 0.5,
                                  .learning_rate = 1e-3,
                                  .gradient_norm = 1,
                                  .source_tokens_per_second = 900,
                                  .target_tokens_per_second = 1000,
                                  .target_tokens = 100 * update},
                                 1000.0 + static_cast<double>(update)});
  records.validations = {{.epoch = 1, .update = 500, .loss = 4.5, .perplexity = 90, .accuracy = 0.4},
                         {.epoch = 1,
                          .update = 1000,
                          .loss = 4.25,
                          .perplexity = 70.5,
                          .accuracy = 0.45,
                          .has_bleu = true,
                          .bleu = 28.06,
                          .bleu_line = "BLEU|nrefs:1|tok:13a = 28.06 58.5/35.5/23.0/15.2 (BP = 0.961)",
                          .is_best = true}};
  records.shown = records.validations[1];
  for (int i = 0; i < 30; ++i) {
    records.shown->sources.push_back("Quelle <" + std::to_string(i) + ">");
    records.shown->references.push_back("The reference number " + std::to_string(i));
    records.shown->hypotheses.push_back(i == 7 ? records.shown->references.back() : "Reference " + std::to_string(i));
  }
  records.shown->attention = {
      {{.name = "decoder.0.self", .heads = 1, .queries = {"x"}, .keys = {"x"}, .weights = {1}},
       {.name = "decoder.0.cross", .heads = 1, .queries = {"The"}, .keys = {"Die"}, .weights = {1}}},
      {}};
  records.sessions = {{.update = 0, .time = 0.5e9, .environment = {{"device", "cpu"}, {"threads", "2"}}},
                      {.update = 500,
                       .time = 1e9,
                       .end_time = 1e9 + 60,
                       .end = "1000 updates done",
                       .environment = {{"device", "cpu"}, {"threads", "4"}}}};
  records.configuration = "model:\n  d_model: 64  # <size>\n";
  records.changed = {{.key = "model.d_model", .before = "512", .after = "64", .may_change_on_resume = false}};
  return records;
}

TEST(HtmlReport, NeedsNothingBesideIt) {
  const auto page = html_report(records());
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  for (const char* outside : {" src=", "href=\"http", "url(", "@import"}) EXPECT_THAT(page, Not(HasSubstr(outside)));
  EXPECT_EQ(count(page, "<link"), count(page, "<link rel=\"icon\" href=\"data:,\">"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(HtmlReport, EscapesTexts) {
  const auto page = html_report(records());
  EXPECT_THAT(page, HasSubstr("<h1>a&lt;b</h1>"));
  EXPECT_THAT(page, HasSubstr("<dd>Quelle &lt;7&gt;<dt>"));
  EXPECT_THAT(page, HasSubstr("# &lt;size&gt;"));
}

TEST(HtmlReport, DrawsACurveForAllThatWasMeasured) {
  const auto page = html_report(records());
  EXPECT_EQ(count(page, "<figure class=\"chart\">"), 7) << "no chrF was measured";
  EXPECT_EQ(count(page, "<svg class=\"plot\""), 7);
  EXPECT_THAT(page, HasSubstr("<h3>BLEU</h3>"));
  EXPECT_THAT(page, Not(HasSubstr("<h3>chrF</h3>")));
}

TEST(HtmlReport, HasTheValidationsWithTheirSignatures) {
  const auto page = html_report(records());
  EXPECT_THAT(page, HasSubstr("<tr><td><td>1<td>500<td>4.500<td>90.00<td>40.0%<td><td>0.0</tr>"));
  EXPECT_THAT(page,
              HasSubstr("<tr class=\"best\"><td>★<td>1<td>1,000<td>4.250<td>70.50<td>45.0%<td>28.06<td>0.0</tr>"));
  EXPECT_THAT(page, HasSubstr("<li><code>BLEU|nrefs:1|tok:13a</code></li>"));
  EXPECT_THAT(page, HasSubstr("<dt>best BLEU</dt><dd>28.06</dd><dd class=\"detail\">update 1,000</dd>"));
}

TEST(HtmlReport, HasTheBestAndTheWorstSentences) {
  const auto page = html_report(records());
  EXPECT_EQ(count(page, "<p class=\"score\">"), 20);
  const auto best = page.find("<h3>Best</h3>"), first = page.find("<p class=\"score\">");
  ASSERT_LT(best, first);
  EXPECT_THAT(page.substr(first, 80), HasSubstr("chrF 100.0 <span>sentence 8</span>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>0–5<td>30<td class=\"bar\">"));
}

TEST(HtmlReport, HasTheAttentionToTheSource) {
  const auto page = html_report(records());
  EXPECT_EQ(count(page, "<figure class=\"attention\">"), 1);
  EXPECT_THAT(page, HasSubstr("<h3>Sentence 1: Quelle &lt;0&gt;</h3>"));
  EXPECT_THAT(page, Not(HasSubstr("decoder.0.self")));
}

TEST(HtmlReport, NamesTheSentencesWhoseAttentionWasAskedFor) {
  auto shown = records();
  shown.shown->attention[1] = shown.shown->attention[0];
  shown.shown->attention.push_back(shown.shown->attention[0]);
  shown.shown->attention_lines = {1, 30, 31};
  const auto page = html_report(shown);
  EXPECT_THAT(page, HasSubstr("<h3>Sentence 30: Quelle &lt;29&gt;</h3>"));
  EXPECT_THAT(page, HasSubstr("<h3>Sentence 31</h3>")) << "it was not translated";
}

TEST(HtmlReport, HasConfigurationAndEnvironment) {
  const auto page = html_report(records());
  EXPECT_THAT(page, HasSubstr("<code>model.d_model</code><td class=\"text\">64<td class=\"text\">512"));
  EXPECT_THAT(page, HasSubstr(">threads<td class=\"text\">4</tr>"));
  EXPECT_THAT(page, HasSubstr("threads: 2 → 4"));
  EXPECT_THAT(page, HasSubstr("ended <time>2001-09-09 01:47 UTC</time>: 1000 updates done"));
}

TEST(HtmlReport, LeavesOutATimeThatIsNoDate) {
  auto damaged = records();
  damaged.sessions[0].time = 1e300, damaged.sessions[1].end_time = 1e18;
  const auto page = html_report(damaged);
  EXPECT_THAT(page, HasSubstr("begun ; ended : 1000 updates done"));
}

TEST(HtmlReport, OfARunThatHasOnlyBegunSaysSo) {
  const auto page = html_report({.name = "x"});
  for (const char* text : {"Nothing was measured yet.", "There was no validation yet.", "No translations are kept",
                           "No attention is kept"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST(ReportObserver, WritesTheReportAtTheEnd) {
  const test::TemporaryDirectory run;
  write_file_atomically(run / "config.yaml", "model:\n  d_model: 64\n");
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  ReportObserver(run.path(), log).on_end("done");
  EXPECT_THAT(read_file(run / "report.html"), HasSubstr("Nothing was measured yet."));
  EXPECT_THAT(lines.str(), HasSubstr("report: " + (run / "report.html").string()));
}

TEST(ReportObserver, DoesNotFailARunThatIsDone) {
  const test::TemporaryDirectory run;
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  ReportObserver(run.path(), log).on_end("done");
  EXPECT_FALSE(std::filesystem::exists(run / "report.html"));
  EXPECT_THAT(lines.str(), HasSubstr("report.html is not written: "));
}

/// No file of this process grows beyond 100 bytes while this lives, as on a full disk; root has the limit, too.
class FullDisk {
 public:
  FullDisk() : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = 100, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST(ReportObserver, DoesNotFailARunWhoseReportCannotBeWritten) {
  const test::TemporaryDirectory run;
  write_file_atomically(run / "config.yaml", "model:\n  d_model: 64\n");
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  std::string failure;  // of who asks for the report alone
  {
    const FullDisk disk;
    ReportObserver(run.path(), log).on_end("done");
    failure = test::message_of<MachineError>([&] { write_report(run.path()); });
  }
  EXPECT_THAT(failure, HasSubstr("report.html: cannot write ("));
  EXPECT_THAT(lines.str(), HasSubstr("report.html is not written: " + failure));
}

TEST(ReportObserver, DoesNotFailARunWhoseFilesAreDamaged) {
  const test::TemporaryDirectory run;
  write_file_atomically(run / "config.yaml", "model:\n  d_model: 64\n");
  std::filesystem::create_symlink("metrics.jsonl", run / "metrics.jsonl");  // std::filesystem itself throws
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  ReportObserver(run.path(), log).on_end("done");
  EXPECT_THAT(lines.str(), HasSubstr("report.html is not written: "));
}

}  // namespace
}  // namespace nmt::html_report_test
