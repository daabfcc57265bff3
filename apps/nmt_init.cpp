#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "command_line.h"
#include "data/own_text/own_configuration.h"
#include "data/own_text/text_split.h"
#include "text/language_code.h"

namespace {

using namespace nmt;
namespace fs = std::filesystem;

struct Arguments {
  std::string config;
  std::vector<std::string> train, valid, test, languages;
  bool force = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", program_version("nmt-init"));
  app.get_formatter()->column_width(36);
  app.add_option("CONFIG", arguments.config, "configuration file to write, such as mine.yaml")
      ->required()
      ->type_name("FILE");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->expected(1, 2)->type_name("FILE");
  };
  add("--train", arguments.train, "the text: a file for each language, or one that holds both (TSV, JSON lines, TMX)")
      ->required();
  add("--valid", arguments.valid, "text that chooses the best model; default: a part of the training text");
  add("--test", arguments.test, "text for the final score; default: a part of the training text");
  app.add_option("--languages", arguments.languages, "codes of source and target; default: the files' extensions")
      ->expected(2)
      ->type_name("CODE");
  app.add_flag("--force", arguments.force, "replaces CONFIG and the parts of the text beside it");
}

CorpusFiles corpus(const std::vector<std::string>& files, const std::string& option) {
  if (files.empty()) return {};
  return {files[0], files.size() > 1 ? files[1] : "", option, option};
}

/// "de" of "train.de" or "train.de.gz"; empty: the name says no language.
std::string language_of(fs::path file) {
  if (file.extension() == ".gz") file = file.stem();
  const std::string extension = file.extension().string();
  const std::string code = extension.empty() ? "" : extension.substr(1);
  return code.size() <= 3 && may_be_iso_639(code) ? code : "";
}

std::vector<std::string> languages_of(const Arguments& arguments) {
  if (!arguments.languages.empty()) return arguments.languages;
  std::vector<std::string> languages;
  for (const auto& file : arguments.train) languages.push_back(language_of(file));
  if (languages.size() < 2 || languages[0].empty() || languages[1].empty() || languages[0] == languages[1])
    throw Error(
        "--train: the names do not end with two languages, as train.de and train.en do; give --languages de en");
  return languages;
}

int run(const Arguments& arguments) {
  const fs::path config = arguments.config, beside = config.parent_path(), name = config.stem();
  if (config.extension() != ".yaml" && config.extension() != ".yml")
    throw Error(fmt::format("{}: a configuration ends with .yaml; name it so", config.string()));
  const fs::path parts = beside / name / "text";
  for (const fs::path& made : {config, parts})
    if (fs::exists(made) && !arguments.force)
      throw Error(fmt::format("{}: is there; give another name, or --force to replace it", made.string()));
  const auto languages = languages_of(arguments);
  const ReadingOptions reading{.source_language = languages[0], .target_language = languages[1]};
  const CorpusFiles train = corpus(arguments.train, "--train");
  const TextSurvey survey = survey_text({train}, reading);
  HeldOutSizes sizes = held_out_sizes(survey.pairs);
  if (!arguments.valid.empty()) sizes.valid = 0;
  if (!arguments.test.empty()) sizes.test = 0;
  if (survey.pairs < 2 * (sizes.valid + sizes.test) || survey.pairs < 100)
    throw Error(
        fmt::format("--train: holds {} pairs; at least 500 are needed for a model that learns anything", survey.pairs));
  // The configuration names all files by what it reads them as.
  DataConfig data;
  data.dir = (beside / name / "prepared").string();
  data.source_language = languages[0], data.target_language = languages[1];
  const auto part = [&](TextPart which, int side) {
    return (parts / fmt::format("{}.{}", kTextParts[static_cast<size_t>(which)], languages[side])).string();
  };
  const auto given = [&](const std::vector<std::string>& files, int side) {
    return files[files.size() > 1 ? side : 0];
  };
  TextSurvey training = survey;
  if (sizes.valid + sizes.test > 0) {
    fs::create_directories(parts);
    const SplitCounts counts = split_text(train, reading, survey, sizes, parts);
    training.pairs = counts.pairs[0];
    fmt::print("{}: {} pairs for training, {} for validation, {} for the test", parts.string(), counts.pairs[0],
               counts.pairs[1], counts.pairs[2]);
    if (counts.left_out > 0) fmt::print("; {} left out, of which the training text has a side", counts.left_out);
    fmt::print("\n");
    data.train1 = {part(TextPart::kTrain, 0)}, data.train2 = {part(TextPart::kTrain, 1)};
  } else {
    data.train1 = {given(arguments.train, 0)}, data.train2 = {given(arguments.train, 1)};
  }
  const auto set = [&](const std::vector<std::string>& files, TextPart which, std::string& one, std::string& two) {
    one = files.empty() ? part(which, 0) : given(files, 0);
    two = files.empty() ? part(which, 1) : given(files, 1);
  };
  set(arguments.valid, TextPart::kValid, data.eval1, data.eval2);
  set(arguments.test, TextPart::kTest, data.test1, data.test2);
  const OwnPlan plan = plan_training(training);
  AtomicFile file(config);
  file.write(own_configuration(data, (beside / name / "run").string(), training, plan));
  file.commit();
  fmt::print("{}: {}, {} epochs of about {} updates\n", config.string(), plan.preset, plan.num_epochs,
             plan.updates / std::max<int64_t>(1, plan.num_epochs));
  fmt::print("next: nmt prepro -c {0} && nmt train -c {0} && nmt eval -c {0}\n", config.string());
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return run_app("nmt-init", [&] {
    CLI::App app("Looks at a parallel text and writes a configuration that fits it.", "nmt-init");
    Arguments arguments;
    declare(app, arguments);
    show_examples(app, {"nmt-init mine.yaml --train train.de train.en",
                        "nmt-init mine.yaml --train both.tsv --languages de en --test test.de test.en"});
    if (!parse_command_line(app, argc, argv)) return int{kDone};
    return run(arguments);
  });
}
