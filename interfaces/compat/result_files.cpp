#include "compat/result_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/user_files.h"
#include "base/unicode.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/original_bleu.h"
#include "text/codec/codec.h"

namespace fs = std::filesystem;

namespace nmt::compat {
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

// The update of model.json's training summary, -1 where it is not told.
int64_t update_of(const fs::path& model_directory) {
  if (!fs::exists(model_directory / "model.json")) return -1;
  const auto description = read_json_file(model_directory / "model.json");
  const auto place = nlohmann::json::json_pointer("/summary/update");
  return description.contains(place) ? whole_number(description[place]).value_or(-1) : -1;
}

/// Sources and references as the model is given them: so the program of 2017 prints and scores them.
TranslatedText normalised(TranslatedText text, const DataConfig& data) {
  const Normalization rules{
      .nfkc = data.nfkc, .lowercase = data.lowercase, .latin_only = data.characters == CharacterSet::kLatin};
  for (auto* lines : {&text.sources, &text.references})
    for (auto& line : *lines) line = normalize(line, rules);
  return text;
}

class ResultFiles final : public EvaluationObserver {
 public:
  ResultFiles(const Config& run, Logger& log) : config_(run), log_(log) {}

  void on_start(const std::vector<Models>& systems, const std::vector<std::string>& test_sets) override {
    const auto naming = config_.run.naming.name();
    std::map<std::string, fs::path> models_by_name;
    for (const auto& system : systems) {
      if (system.size() > 1) {
        log_.warn("run.naming {}: an ensemble has no result file; it has the name of one model", naming);
        continue;
      }
      const auto [other, is_new] = models_by_name.emplace(original_model_name(system.front()), system.front());
      if (!is_new)
        throw Error(
            fmt::format("--model {}: its result file (run.naming {}) would be that of {}; evaluate them one by "
                        "one with another run.testdir, or rename a folder",
                        system.front().string(), naming, other->second.string()));
    }
    for (const auto& test_set : test_sets) {
      if (models_by_name.empty()) break;
      const auto folder = folder_of(test_set);
      make_folder("run.testdir", folder);
      for (const auto& [name, model] : models_by_name)
        check_writable(folder / (name + (is_of_2019() ? "B0" : "")));  // the score behind it is not known yet
    }
  }

  void on_result(const Models& system, const std::string& test_set, const TranslatedText& text) override {
    if (system.size() > 1) return;
    const auto folder = folder_of(test_set);
    make_folder("run.testdir", folder);
    const auto name = original_model_name(system.front());
    const auto file = is_of_2019() ? write_kyubyong2019_results(folder, name, text)
                                   : write_kyubyong2017_results(folder, name, normalised(text, config_.data));
    log_.info("{} is written", file.string());
  }

 private:
  bool is_of_2019() const { return config_.run.naming == RunNaming::kKyubyong2019; }
  fs::path folder_of(const std::string& test_set) const {
    const auto& run = config_.run;
    const auto folder =
        run.testdir.empty() ? fs::path(run.dir) / (is_of_2019() ? "test" : "results") : fs::path(run.testdir);
    return test_set.empty() ? folder : folder / test_set;
  }
  const Config& config_;
  Logger& log_;
};

}  // namespace

std::unique_ptr<EvaluationObserver> make_result_files(const Config& run, Logger& log) {
  if (run.run.naming == RunNaming::kPlain) return nullptr;
  return std::make_unique<ResultFiles>(run, log);
}

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
  const auto figure = hypotheses.empty() ? "0" : score_of(scoring::OriginalForm::kNltk, hypotheses, references).figure;
  write_file_atomically(path, format_results_file(text, figure));
  return path;
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

}  // namespace nmt::compat
