#include "decoding/original_results.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/words.h"
#include "scoring/bleu.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

// BLEU of words between spaces, without smoothing: the figure of multi-bleu.perl and of NLTK's corpus_bleu.
scoring::BleuScore bleu_of_words(const std::vector<std::string>& hypotheses,
                                 const std::vector<std::string>& references) {
  return scoring::Bleu({.tokenizer = "none", .smoothing = scoring::BleuSmoothing::kNone})
      .corpus_score(hypotheses, {references}, {.threads = 1});
}

// His copy of multi-bleu.perl takes the last character off every line: the line's end, but of the last line, which has
// none in his files, the last letter.
std::vector<std::string> as_his_scorer_reads(std::vector<std::string> lines) {
  if (!lines.empty() && !lines.back().empty()) lines.back().pop_back();
  return lines;
}

// With the spelling of his copy.
std::string multi_bleu_line(const scoring::BleuScore& bleu) {
  const double ratio = bleu.reference_length > 0
                           ? static_cast<double>(bleu.hypothesis_length) / static_cast<double>(bleu.reference_length)
                           : 0;
  const auto& p = bleu.precisions;
  return fmt::format("BLEU = {:.2f}, {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP={:.3f}, ration={:.3f})", bleu.score, p[0], p[1],
                     p[2], p[3], bleu.brevity_penalty, ratio);
}

int64_t words_in(const std::string& line) {
  std::vector<std::string_view> words;
  split_words(line, words);
  return std::ssize(words);
}

// The update of model.json's training summary, -1 where it is not told.
int64_t update_of(const fs::path& model_directory) {
  if (!fs::exists(model_directory / "model.json")) return -1;
  const auto description =
      nlohmann::json::parse(read_file(model_directory / "model.json"), nullptr, /*allow_exceptions=*/false);
  const auto place = nlohmann::json::json_pointer("/summary/update");
  return description.contains(place) && description[place].is_number_integer() ? description[place].get<int64_t>() : -1;
}

}  // namespace

fs::path write_kyubyong2019_results(const fs::path& directory, const std::string& name, const TranslatedText& text) {
  const auto bleu = bleu_of_words(as_his_scorer_reads(text.hypotheses), as_his_scorer_reads(text.references));
  std::string lines;
  for (const auto& line : text.hypotheses) lines += line + '\n';
  const auto path = directory / fmt::format("{}B{:.2f}", name, bleu.score);
  write_file_atomically(path, lines + multi_bleu_line(bleu));
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
  const double bleu = hypotheses.empty() ? 0 : bleu_of_words(hypotheses, references).score;
  const auto path = directory / name;
  write_file_atomically(path, format_results_file(text, bleu));
  return path;
}

std::string format_results_file(const TranslatedText& text, double bleu) {
  std::string lines;
  for (size_t i = 0; i < text.sources.size(); ++i) {
    fmt::format_to(std::back_inserter(lines), "- source: {}\n- expected: {}\n- got: {}\n\n", text.sources[i],
                   text.references[i], text.hypotheses[i]);
  }
  return lines + fmt::format("Bleu Score = {}", bleu);
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
