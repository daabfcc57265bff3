#include "evaluation/original_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>

#include "base/files/file.h"
#include "base/files/json_file.h"
#include "base/strict_json.h"
#include "base/words.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/original_bleu.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

scoring::OriginalText score_of(scoring::OriginalForm form, const std::vector<std::string>& hypotheses,
                               const std::vector<std::string>& references) {
  return scoring::score_corpus(scoring::OriginalBleu(form), hypotheses, scoring::References{references}, {.threads = 1})
      .original.value();
}

// No line end follows the last line of his files.
std::vector<std::string> as_his_scorer_reads(std::vector<std::string> lines) {
  if (!lines.empty()) lines.back() = scoring::without_last_character(lines.back());
  return lines;
}

int64_t words_in(const std::string& line) {
  std::vector<std::string_view> words;
  split_words(line, words);
  return std::ssize(words);
}

std::string triplets(const TranslatedText& text) {
  std::string lines;
  for (size_t i = 0; i < text.sources.size(); ++i) {
    fmt::format_to(std::back_inserter(lines), "- source: {}\n- expected: {}\n- got: {}\n\n", text.sources[i],
                   text.references[i], text.hypotheses[i]);
  }
  return lines;
}

// The update of model.json's training summary, -1 where it is not told.
int64_t update_of(const fs::path& model_directory) {
  if (!fs::exists(model_directory / "model.json")) return -1;
  const auto description = read_json_file(model_directory / "model.json");
  const auto place = nlohmann::json::json_pointer("/summary/update");
  return description.contains(place) && description[place].is_number_integer() ? description[place].get<int64_t>() : -1;
}

}  // namespace

fs::path write_kyubyong2019_results(const fs::path& directory, const std::string& name, const TranslatedText& text) {
  const auto score = score_of(scoring::OriginalForm::kMultiBleuLegacy, as_his_scorer_reads(text.hypotheses),
                              as_his_scorer_reads(text.references));
  const auto path = directory / fmt::format("{}B{}", name, score.figure);
  write_file_atomically(path, fmt::format("{}\n{}", fmt::join(text.hypotheses, "\n"), score.line));
  return path;
}

fs::path write_kyubyong2017_results(const fs::path& directory, const std::string& name, const TranslatedText& text) {
  constexpr int64_t kFewestWords = 4;
  std::vector<std::string> hypotheses, references;
  for (size_t i = 0; i < text.hypotheses.size(); ++i) {
    if (words_in(text.hypotheses[i]) < kFewestWords || words_in(text.references[i]) < kFewestWords) continue;
    hypotheses.push_back(text.hypotheses[i]);
    references.push_back(text.references[i]);
  }
  const auto path = directory / name;
  write_file_atomically(
      path,
      triplets(text) + (hypotheses.empty() ? "Bleu Score = 0"
                                           : score_of(scoring::OriginalForm::kNltk, hypotheses, references).line));
  return path;
}

std::string format_results_file(const TranslatedText& text, double bleu) {
  return triplets(text) + fmt::format("Bleu Score = {}", bleu);
}

std::string original_model_name(const fs::path& model_directory) {
  const auto folder = fs::weakly_canonical(model_directory);
  const int64_t update = folder.filename() == "best" ? update_of(folder) : -1;
  if (update < 0) return folder.filename().string();
  std::string found = folder.filename().string();
  for (const auto& entry : fs::directory_iterator(folder.parent_path())) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(fmt::format("-{}", update)) || name.ends_with(fmt::format("_gs_{}", update))) found = name;
  }
  return found;
}

}  // namespace nmt
