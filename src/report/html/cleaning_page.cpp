#include "report/html/cleaning_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/process/log.h"
#include "base/unicode.h"
#include "report/html/page_parts.h"
#include "report/pictures/markup.h"

namespace nmt {
namespace {

constexpr size_t kLongestText = 1000;  // bytes

std::string shown(const std::string& text) {
  if (text.size() <= kLongestText) return escape_xml(text);
  size_t end = kLongestText;
  while (is_continuation_byte(text[end])) --end;
  return escape_xml(text.substr(0, end)) + "…";
}

std::string title_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return escape_xml(name);
}

/// A cell with a bar of `share` (0 to 1) of its width behind the figure.
std::string bar(int64_t pairs, double share) {
  return fmt::format("<td class=\"bar\"><span style=\"width:{:.1f}%\"></span>&nbsp;{}", 100 * share,
                     with_commas(pairs));
}

std::string verdict_table(const CleaningPage& page, int64_t all) {
  std::string rows;
  for (const auto& verdict : page.verdicts) {
    if (verdict.pairs == 0) continue;
    const double share = static_cast<double>(verdict.pairs) / static_cast<double>(std::max<int64_t>(all, 1));
    rows += fmt::format("<tr><th class=\"text\"><a href=\"#{0}\">{1}</a>{2}<td>{3:.2f}%</tr>\n",
                        escape_xml(verdict.name), title_of(verdict.name), bar(verdict.pairs, share), 100 * share);
  }
  return "<div class=\"wide\"><table>\n<thead><tr><th class=\"text\">verdict<th "
         "class=\"text\">pairs<th>share</tr></thead>\n"
         "<tbody>\n" +
         rows + "</tbody>\n</table></div>\n";
}

/// The bars grow with the logarithm: most pairs have a score of 0.
std::string histogram_table(const CleaningPage::Histogram& histogram) {
  const auto& classes = histogram.classes;
  const double width = histogram.usual / static_cast<double>(classes.size() - 1);
  const double most = std::log1p(static_cast<double>(*std::ranges::max_element(classes)));
  std::string rows;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] == 0) continue;
    const double from = static_cast<double>(i) * width;
    rows += fmt::format("<tr><td>{:.3g}{}</tr>\n", from,
                        bar(classes[i], std::log1p(static_cast<double>(classes[i])) / most));
  }
  return fmt::format(
      "<figure class=\"chart\">\n<figcaption><h3>{}</h3><p class=\"legend\">dropped above {:.3g}</p></figcaption>\n"
      "<table>\n<thead><tr><th>score from<th "
      "class=\"text\">pairs</tr></thead>\n<tbody>\n{}</tbody>\n</table></figure>\n",
      title_of(histogram.rule), histogram.threshold, rows);
}

std::string example_list(const CleaningPage::Verdict& verdict) {
  std::string items;
  for (const auto& [corpus, number, score, source, target] : verdict.examples)
    items += fmt::format(
        "<li><p class=\"score\">{}<span>{}, pair {}</span></p>\n<dl><dt>source</dt><dd dir=\"auto\">{}</dd>\n"
        "<dt>target</dt><dd dir=\"auto\">{}</dd></dl></li>\n",
        verdict.name == "kept" ? "" : fmt::format("{:.4g}", score), escape_xml(corpus), with_commas(number),
        shown(source), shown(target));
  return fmt::format(
      "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"note\">{} of {} pairs, drawn at random</p>\n"
      "<ul class=\"sentences\">\n{}</ul>\n</section>\n",
      escape_xml(verdict.name), title_of(verdict.name), verdict.examples.size(), with_commas(verdict.pairs), items);
}

}  // namespace

void CleaningPage::Histogram::add(double score) {
  const double place = std::max(0.0, score / usual * static_cast<double>(classes.size() - 1));
  ++classes[std::min(classes.size() - 1, static_cast<size_t>(std::min(place, 1e6)))];
}

std::string cleaning_page(const CleaningPage& page) {
  int64_t all = 0;
  for (const auto& verdict : page.verdicts) all += verdict.pairs;
  std::string histograms, examples;
  for (const auto& histogram : page.histograms) histograms += histogram_table(histogram);
  for (const auto& verdict : page.verdicts)
    if (verdict.pairs > 0) examples += example_list(verdict);
  const int64_t kept = page.verdicts.empty() ? 0 : page.verdicts.front().pairs;
  return html_page(
      "Cleaning",
      fmt::format(
          "<header>\n<h1>Cleaning</h1>\n<p>{} of {} pairs are kept</p>\n</header>\n<main>\n"
          "<section id=\"verdicts\">\n<h2>Verdicts</h2>\n{}</section>\n"
          "<section id=\"scores\">\n<h2>Scores</h2>\n<p class=\"note\">Pairs by the score that a rule gives "
          "them; the length of a bar is a logarithm.</p>\n<div class=\"charts\">\n{}</div>\n</section>\n{}</main>\n",
          with_commas(kept), with_commas(all), verdict_table(page, all), histograms, examples));
}

}  // namespace nmt
