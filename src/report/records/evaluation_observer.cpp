#include "report/records/evaluation_observer.h"

#include <fmt/format.h>

#include <iterator>

namespace nmt {

std::string format_results_file(const TranslatedText& text, const std::string& figure) {
  std::string lines;
  for (size_t i = 0; i < text.sources.size(); ++i) {
    fmt::format_to(std::back_inserter(lines), "- source: {}\n- expected: {}\n- got: {}\n\n", text.sources[i],
                   text.references[i], text.hypotheses[i]);
  }
  return lines + "Bleu Score = " + figure;
}

}  // namespace nmt
