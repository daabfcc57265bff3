#include "report/html/html_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <set>

#include "base/files/file.h"
#include "base/process/log.h"
#include "report/html/attention_map.h"
#include "report/html/page_parts.h"
#include "report/html/svg_plot.h"
#include "report/html/translation_quality.h"
#include "report/pictures/attention_picture.h"
#include "report/pictures/markup.h"

namespace nmt {
namespace {

constexpr size_t kSentencesShown = 10;        // best, and worst
constexpr double kEndOfDates = 253402300800;  // the year 10000

std::string date(double seconds_since_1970) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds_since_1970)));
}

std::string time_element(double seconds_since_1970) {
  const bool is_date = seconds_since_1970 > 0 && seconds_since_1970 < kEndOfDates;  // sessions.jsonl may be damaged
  return is_date ? fmt::format("<time>{}</time>", date(seconds_since_1970)) : "";
}

double median_speed(const RunRecords& records) {
  std::vector<double> speeds;
  for (const auto& line : records.intervals) speeds.push_back(line.interval.target_tokens_per_second);
  std::erase_if(speeds, [](double speed) { return !std::isfinite(speed); });
  if (speeds.empty()) return 0;
  const auto middle = speeds.begin() + std::ssize(speeds) / 2;
  std::nth_element(speeds.begin(), middle, speeds.end());
  return *middle;
}

std::string tile(const std::string& what, const std::string& figure, const std::string& detail = "") {
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd>{}</dd><dd class=\"detail\">{}</dd></div>\n", what, figure,
                     escape_xml(detail));
}

std::string heading(const RunRecords& records) {
  std::string html = fmt::format("<header>\n<h1>{}</h1>\n<p>", escape_xml(records.name));
  if (!records.sessions.empty()) {
    const auto& last = records.sessions.back();
    html +=
        fmt::format("begun {}; {}", time_element(records.sessions.front().time),
                    last.end_time > 0 ? fmt::format("ended {}: {}", time_element(last.end_time), escape_xml(last.end))
                                      : "is running, or was cut off");
  }
  html += "</p>\n<dl class=\"tiles\">\n";
  if (const auto* best = best_validation(records)) {
    const auto of = weights_of(*best);
    if (best->has_bleu) html += tile("best BLEU", fmt::format("{:.2f}", best->bleu), of);
    if (best->has_chrf) html += tile("chrF", fmt::format("{:.2f}", best->chrf), of);
    html += tile("perplexity", fmt::format("{:.2f}", best->perplexity), of);
  }
  if (!records.intervals.empty()) {
    const auto& last = records.intervals.back().interval;
    html += tile("updates", with_commas(last.update), fmt::format("epoch {}", last.epoch));
    html += tile("target tokens", short_number(static_cast<double>(last.target_tokens)), "read in training");
    html += tile("speed", short_number(median_speed(records)), "target tokens a second, median");
  }
  if (const double seconds = seconds_of_training(records); seconds > 0)
    html += tile("time", format_duration(seconds), "with validation");
  return html + "</dl>\n</header>\n";
}

std::string curves(const RunRecords& records) {
  std::string charts;
  for (const auto& plot : run_plots(records)) charts += page_chart(plot);
  if (charts.empty()) return page_section("curves", "Curves", page_note("Nothing was measured yet."));
  return page_section("curves", "Curves", "<div class=\"charts\">\n" + charts + "</div>\n");
}

std::string signature_of(const std::string& line) { return line.substr(0, line.find(" = ")); }

std::string signatures(const std::vector<ValidationReport>& reports) {
  std::set<std::string> all;
  for (const auto& report : reports)
    for (const auto& line : {report.bleu_line, report.chrf_line})
      if (!line.empty()) all.insert(signature_of(line));
  std::string html;
  for (const auto& signature : all) html += fmt::format("<li><code>{}</code></li>\n", escape_xml(signature));
  return html.empty() ? "" : "<p>The scores are those of sacreBLEU, with the signatures</p>\n<ul>\n" + html + "</ul>\n";
}

/// best: the row that is marked, or null.
std::string validation_table(const std::vector<ValidationReport>& reports, const ValidationReport* best) {
  const auto any = [&](auto has) { return std::any_of(reports.begin(), reports.end(), has); };
  const bool bleu = any([](const auto&r) { return r.has_bleu; }), chrf = any([](const auto&r) { return r.has_chrf; }),
             averages = any([](const auto&r) { return !r.weights.empty(); });
  std::string table =
      "<div class=\"wide tall\"><table>\n<thead><tr><th>best<th>epoch<th>update<th>loss<th>perplexity"
      "<th>accuracy";
  table += fmt::format("{}{}<th>seconds{}</tr></thead>\n<tbody>\n", bleu ? "<th>BLEU" : "", chrf ? "<th>chrF" : "",
                       averages ? "<th class=\"text\">weights" : "");
  for (const auto& r : reports) {
    table += fmt::format("<tr{}><td>{}<td>{}<td>{}<td>{:.3f}<td>{:.2f}<td>{:.1f}%", &r == best ? " class=\"best\"" : "",
                         r.is_best ? "★" : "", r.epoch, with_commas(r.update), r.loss, r.perplexity, 100 * r.accuracy);
    if (bleu) table += r.has_bleu ? fmt::format("<td>{:.2f}", r.bleu) : "<td>";
    if (chrf) table += r.has_chrf ? fmt::format("<td>{:.2f}", r.chrf) : "<td>";
    table += fmt::format("<td>{:.1f}", r.seconds);
    if (averages) table += fmt::format("<td class=\"text\">{}", escape_xml(r.weights));
    table += "</tr>\n";
  }
  table += "</tbody>\n</table></div>\n";
  return table;
}

std::string validations(const RunRecords& records) {
  const auto& reports = records.validations;
  if (reports.empty()) return page_section("validations", "Validations", page_note("There was no validation yet."));
  const auto* best = best_validation(records);
  std::string table = validation_table(reports, best);
  for (const auto& [name, of_set] : records.other_validations)
    table += fmt::format("<h3>{}</h3>\n{}", escape_xml(name), validation_table(of_set, nullptr));
  std::string lines;
  if (best)
    for (const auto& line : {best->bleu_line, best->chrf_line})
      if (!line.empty()) lines += escape_xml(line) + "\n";
  if (!lines.empty()) lines = "<p>The best one:</p>\n<pre>" + lines + "</pre>\n";
  return page_section("validations", "Validations", table + signatures(reports) + lines);
}

std::string sentence_list(const std::string& title, const ValidationReport& report, const std::vector<double>& scores,
                          const std::vector<size_t>& chosen) {
  std::string html = fmt::format("<div>\n<h3>{}</h3>\n<ol class=\"sentences\">\n", title);
  for (const size_t i : chosen)
    html += fmt::format(
        "<li><p class=\"score\">chrF {:.1f} <span>sentence {}</span></p><dl><dt>source<dd>{}<dt>reference<dd>{}"
        "<dt>translation<dd>{}</dl></li>\n",
        scores[i], i + 1, escape_xml(report.sources[i]), escape_xml(report.references[i]),
        escape_xml(report.hypotheses[i]));
  return html + "</ol>\n</div>\n";
}

std::string bar(double percent) {
  return fmt::format("<td class=\"bar\"><span style=\"width:{:.1f}%\"></span>{:.1f}", std::clamp(percent, 0.0, 100.0),
                     percent);
}

std::string length_table(const ValidationReport& report) {
  std::string table =
      "<div class=\"wide\"><table class=\"lengths\">\n<thead><tr><th>source words<th>sentences"
      "<th class=\"text\">BLEU<th class=\"text\">chrF</tr></thead>\n<tbody>\n";
  for (const auto& c : scores_by_length(report.sources, report.references, report.hypotheses))
    table += fmt::format("<tr><td>{}<td>{}{}{}</tr>\n",
                         c.max > 0 ? fmt::format("{}–{}", c.min, c.max) : fmt::format("{} and more", c.min),
                         with_commas(c.sentences), bar(c.bleu), bar(c.chrf));
  return table + "</tbody>\n</table></div>\n";
}

std::string translations(const RunRecords& records) {
  constexpr const char* kTitle = "Translations";
  if (!records.shown || records.shown->hypotheses.empty())
    return page_section(
        "translations", kTitle,
        page_note("No translations are kept: validation.metrics has neither bleu nor chrf, or there was no "
                  "validation yet."));
  const auto& report = *records.shown;
  const auto scores = sentence_chrf(report.hypotheses, report.references);
  const auto [best, worst] = best_and_worst(scores, report.references, kSentencesShown);
  return page_section(
      "translations", kTitle,
      fmt::format("<p>Of the {} sentences that were translated with the weights of {}, by the chrF2 of each "
                  "sentence.</p>\n<div class=\"columns\">\n{}{}</div>\n<h3>Scores by sentence length</h3>\n{}",
                  with_commas(std::ssize(scores)), escape_xml(weights_of(report)),
                  sentence_list("Best", report, scores, best), sentence_list("Worst", report, scores, worst),
                  length_table(report)));
}

std::string attention(const RunRecords& records) {
  std::string maps;
  if (records.shown) {
    const auto& report = *records.shown;
    for (size_t i = 0; i < report.attention.size(); ++i) {
      const auto layers = cross_attention(report.attention[i]);
      if (layers.empty()) continue;
      const int64_t line = attention_line(report, i);
      const bool has_source = line >= 1 && line <= std::ssize(report.sources);
      const std::string source = has_source ? ": " + escape_xml(report.sources[line - 1]) : "";
      maps += fmt::format("<h3>Sentence {}{}</h3>\n", line, source) + attention_map(layers);
    }
  }
  if (maps.empty())
    return page_section("attention", "Attention",
                        page_note("No attention is kept: the model has none that looks at the source, or "
                                  "validation.attention_samples is 0."));
  return page_section(
      "attention", "Attention",
      "<p>Each row is a token of the reference as it is written, each column a token of the source it looks "
      "at; the stronger the colour, the higher the weight.</p>\n" +
          maps);
}

std::string configuration(const RunRecords& records) {
  std::string table;
  for (const auto& option : records.changed)
    table += fmt::format("<tr><td class=\"text\"><code>{}</code><td class=\"text\">{}<td class=\"text\">{}</tr>\n",
                         escape_xml(option.key), escape_xml(option.after), escape_xml(option.before));
  if (!table.empty())
    table =
        "<div class=\"wide\"><table>\n<thead><tr><th class=\"text\">option<th class=\"text\">here<th class=\"text\">"
        "default</tr></thead>\n<tbody>\n" +
        table + "</tbody>\n</table></div>\n";
  return page_section("configuration", "Configuration",
                      fmt::format("{}<details><summary>All of config.yaml</summary>\n<pre>{}</pre></details>\n", table,
                                  escape_xml(records.configuration)));
}

/// What is not as in the session before: "threads: 2 -> 4".
std::string changes(const Facts& before, const Facts& after) {
  std::string text;
  for (const auto& fact : after) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const auto& b) { return b.first == fact.first; });
    if (old != before.end() && old->second != fact.second)
      text += fmt::format("{}{}: {} → {}", text.empty() ? "" : "; ", fact.first, old->second, fact.second);
  }
  return text;
}

std::string environment(const RunRecords& records) {
  if (records.sessions.empty())
    return page_section("environment", "Environment",
                        page_note("The run was begun by a version that did not record it."));
  std::string facts;
  for (const auto& [what, which] : records.sessions.back().environment)
    facts += fmt::format("<tr><th scope=\"row\" class=\"text\">{}<td class=\"text\">{}</tr>\n", escape_xml(what),
                         escape_xml(which));
  std::string sessions;
  const Facts* before = nullptr;
  for (const auto& session : records.sessions) {
    sessions += fmt::format("<tr><td class=\"text\">{}<td>{}<td class=\"text\">{}<td class=\"text\">{}</tr>\n",
                            time_element(session.time), with_commas(session.update), escape_xml(session.end),
                            before ? escape_xml(changes(*before, session.environment)) : "");
    before = &session.environment;
  }
  return page_section(
      "environment", "Environment",
      fmt::format("<div class=\"wide\"><table>\n<tbody>\n{}</tbody>\n</table></div>\n<h3>Sessions</h3>\n<div "
                  "class=\"wide\"><table>\n<thead><tr><th class=\"text\">begun<th>after update<th "
                  "class=\"text\">end<th class=\"text\">changed</tr></thead>\n<tbody>\n{}</tbody>\n"
                  "</table></div>\n",
                  facts, sessions));
}

constexpr const char* kNavigation =
    "<nav><a href=\"#curves\">Curves</a> <a href=\"#validations\">Validations</a> "
    "<a href=\"#translations\">Translations</a> <a href=\"#attention\">Attention</a> "
    "<a href=\"#configuration\">Configuration</a> <a href=\"#environment\">Environment</a></nav>\n";

}  // namespace

std::string html_report(const RunRecords& records) {
  std::string body = heading(records) + kNavigation + "<main>\n";
  for (const auto& part : {curves, validations, translations, attention, configuration, environment})
    body += part(records);
  return html_page(fmt::format("{}: training report", records.name), body + "</main>\n");
}

std::filesystem::path write_report(const std::filesystem::path& run_directory) {
  auto path = run_directory / "report.html";
  write_file_atomically(path, html_report(read_run(run_directory)));
  return path;
}

bool ReportObserver::write() {
  try {
    write_report(directory_);
    return true;
  } catch (const std::exception& error) {  // a full disk, too
    log_.warn("report.html is not written: {}", error.what());
    return false;
  }
}

void ReportObserver::refresh() {
  constexpr double kSeconds = 30, kTimes = 50;
  const double start = clock_();
  if (start < next_) return;
  const bool written = write();
  const double end = clock_();
  next_ = written ? end + std::max(kSeconds, kTimes * (end - start)) : std::numeric_limits<double>::infinity();
}

void ReportObserver::on_end(const std::string&) {
  if (write()) log_.info("report: {}", (directory_ / "report.html").string());
}

}  // namespace nmt
