#include "report/html/page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/log.h"
#include "report/pictures/markup.h"

namespace nmt {

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n{}"
      "<script>\n{}</script>\n</body>\n</html>\n",
      escape_xml(title), report_style(), body, report_script());
}

const ValidationReport* best_validation(const RunRecords& records) {
  const auto best = std::find_if(records.validations.rbegin(), records.validations.rend(),
                                 [](const auto& report) { return report.is_best; });
  return best == records.validations.rend() ? nullptr : &*best;
}

std::string weights_of(const ValidationReport& report) {
  const auto update = fmt::format("update {}", with_commas(report.update));
  return report.weights.empty() ? update : update + ", " + report.weights;
}

std::string page_section(const std::string& id, const std::string& title, const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, body);
}

std::string page_note(const std::string& text) { return fmt::format("<p class=\"note\">{}</p>\n", escape_xml(text)); }

std::string page_chart(const Plot& plot) {
  std::string legend;
  for (size_t i = 0; i < plot.series.size(); ++i)
    if (!plot.series[i].points.empty() && plot.series.size() > 1)
      legend += fmt::format("<span class=\"series-{}\">{}</span> ", i + 1, escape_xml(plot.series[i].name));
  return fmt::format(
      "<figure class=\"chart\">\n<figcaption><h3>{}</h3><p class=\"legend\">{}</p></figcaption>\n{}{}</figure>\n",
      escape_xml(plot.title), legend, plot_svg(plot), json_script(plot_data(plot).dump()));
}

}  // namespace nmt
