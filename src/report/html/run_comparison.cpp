#include "report/html/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/log.h"
#include "report/html/page_parts.h"
#include "report/html/svg_plot.h"
#include "report/html/translation_quality.h"
#include "report/pictures/markup.h"

namespace nmt {
namespace {

constexpr size_t kMostDifferent = 20;  // for each of the runs

/// The plot of this title; of several curves those of training and validation (of averaged weights, where a run
/// validates no others): four in two runs have a colour each.
std::vector<PlotSeries> two_series(const std::vector<Plot>& plots, const std::string& title, const std::string& run) {
  const auto plot = std::ranges::find(plots, title, &Plot::title);
  if (plot == plots.end()) return std::vector<PlotSeries>(2);
  auto series = plot->series;
  if (series.size() == 3 && series[1].points.empty()) std::swap(series[1], series[2]);
  series.resize(2);
  for (auto& curve : series) curve.name = fmt::format("{}: {}", run, curve.name);
  return series;
}

std::string curves_of_both(const RunRecords& first, const RunRecords& second) {
  auto plots = run_plots(first);
  const auto others = run_plots(second);
  const auto both = plots;
  for (const auto& plot : others)
    if (std::ranges::find(both, plot.title, &Plot::title) == both.end()) plots.push_back(plot);
  std::string charts;
  for (auto& plot : plots) {
    plot.series = two_series(both, plot.title, first.name);
    for (auto& curve : two_series(others, plot.title, second.name)) plot.series.push_back(std::move(curve));
    charts += page_chart(plot);
  }
  return page_section(
      "curves", "Curves",
      charts.empty() ? page_note("Nothing was measured yet.") : "<div class=\"charts\">\n" + charts + "</div>\n");
}

std::string best_of_both(const RunRecords& first, const RunRecords& second) {
  std::string rows;
  for (const auto* run : {&first, &second}) {
    rows += fmt::format("<tr><th scope=\"row\" class=\"text\">{}", escape_xml(run->name));
    if (const auto* best = best_validation(*run))
      rows += fmt::format("<td class=\"text\">{}<td>{:.3f}<td>{:.2f}<td>{:.1f}%<td>{}<td>{}",
                          escape_xml(weights_of(*best)), best->loss, best->perplexity, 100 * best->accuracy,
                          best->has_bleu ? fmt::format("{:.2f}", best->bleu) : "",
                          best->has_chrf ? fmt::format("{:.2f}", best->chrf) : "");
    rows += "</tr>\n";
  }
  return page_section("validations", "Best validations",
                      "<div class=\"wide\"><table>\n<thead><tr><th class=\"text\">run<th class=\"text\">weights<th>loss"
                      "<th>perplexity<th>accuracy<th>BLEU<th>chrF</tr></thead>\n<tbody>\n" +
                          rows + "</tbody>\n</table></div>\n");
}

std::string options_of_both(const RunRecords& first, const RunRecords& second) {
  std::map<std::string, std::pair<std::string, std::string>> values;  // by option, in both runs
  for (const auto& option : first.changed) values[option.key] = {option.after, option.before};
  for (const auto& option : second.changed)
    values.try_emplace(option.key, option.before, "").first->second.second = option.after;
  std::string rows;
  for (const auto& [key, value] : values)
    if (value.first != value.second)
      rows += fmt::format("<tr><td class=\"text\"><code>{}</code><td class=\"text\">{}<td class=\"text\">{}</tr>\n",
                          escape_xml(key), escape_xml(value.first), escape_xml(value.second));
  return page_section(
      "configuration", "Options that differ",
      rows.empty()
          ? page_note("None.")
          : fmt::format("<div class=\"wide\"><table>\n<thead><tr><th class=\"text\">option<th class=\"text\">{}<th "
                        "class=\"text\">{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
                        escape_xml(first.name), escape_xml(second.name), rows));
}

std::string sentences_of_both(const RunRecords& first, const RunRecords& second) {
  constexpr const char* kTitle = "Sentences that differ most";
  const auto &a = first.shown, &b = second.shown;
  if (!a || !b || a->hypotheses.empty() || a->sources != b->sources || a->references != b->references)
    return page_section("translations", kTitle, page_note("The runs have no translations of the same sentences."));
  const auto of_first = sentence_chrf(a->hypotheses, a->references),
             of_second = sentence_chrf(b->hypotheses, b->references);
  std::vector<double> gains;
  for (size_t i = 0; i < of_first.size(); ++i) gains.push_back(of_second[i] - of_first[i]);
  const auto [gained, lost] = best_and_worst(gains, a->references, kMostDifferent);
  const auto list = [&](const RunRecords& better, const std::vector<size_t>& chosen, double sign) {
    std::string html = fmt::format("<div>\n<h3>{} is better</h3>\n<ol class=\"sentences\">\n", escape_xml(better.name));
    for (const size_t i : chosen)
      if (sign * gains[i] > 0)
        html += fmt::format(
            "<li><p class=\"score\">chrF {:.1f} and {:.1f} <span>sentence {}</span></p><dl><dt>source<dd>{}"
            "<dt>reference<dd>{}<dt>{}<dd>{}<dt>{}<dd>{}</dl></li>\n",
            of_first[i], of_second[i], i + 1, escape_xml(a->sources[i]), escape_xml(a->references[i]),
            escape_xml(first.name), escape_xml(a->hypotheses[i]), escape_xml(second.name),
            escape_xml(b->hypotheses[i]));
    return html + "</ol>\n</div>\n";
  };
  const auto better = std::ranges::count_if(gains, [](double gain) { return gain > 0; }),
             worse = std::ranges::count_if(gains, [](double gain) { return gain < 0; });
  return page_section(
      "translations", kTitle,
      fmt::format("<p>By the chrF2 of each sentence {} is better in {} and {} in {} of {} sentences, "
                  "translated with the weights of {} and {}.</p>\n<div class=\"columns\">\n{}{}</div>\n",
                  escape_xml(second.name), with_commas(better), escape_xml(first.name), with_commas(worse),
                  with_commas(std::ssize(gains)), escape_xml(weights_of(*a)), escape_xml(weights_of(*b)),
                  list(second, gained, 1), list(first, lost, -1)));
}

}  // namespace

std::string run_comparison(const RunRecords& first, const RunRecords& second) {
  const auto title = fmt::format("{} and {}", first.name, second.name);
  std::string body = fmt::format("<header>\n<h1>{}</h1>\n</header>\n<main>\n", escape_xml(title));
  for (const auto& part : {curves_of_both, best_of_both, options_of_both, sentences_of_both})
    body += part(first, second);
  return html_page(title, body + "</main>\n");
}

std::filesystem::path write_comparison(const std::filesystem::path& first, const std::filesystem::path& second) {
  auto one = read_run(first), other = read_run(second);
  if (one.name == other.name) one.name = first.string(), other.name = second.string();
  auto path = second / "comparison.html";
  write_file_atomically(path, run_comparison(one, other));
  return path;
}

}  // namespace nmt
