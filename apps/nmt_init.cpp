// nmt-init: from a parallel text to a configuration that fits it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/program_description.h"
#include "base/threads.h"
#include "command_line.h"
#include "data/own_text/own_configuration.h"
#include "data/own_text/text_split.h"
#include "text/language_code.h"

namespace {

using namespace nmt;
namespace fs = std::filesystem;

constexpr int64_t kFewestPairs = 500;

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

/// "de" of "train.de" or "train.de.gz" or "train.de.zst"; empty: the name says no language.
std::string language_of(fs::path file) {
  if (file.extension() == ".gz" || file.extension() == ".zst") file = file.stem();
  const std::string extension = file.extension().string();
  const std::string code = extension.empty() ? "" : extension.substr(1);
  return code.size() == 2 && may_be_iso_639(code) ? code : "";
}

std::vector<std::string> languages_of(const Arguments& arguments) {
  if (!arguments.languages.empty()) return arguments.languages;
  if (arguments.train.size() < 2)
    throw Error(
        "--train: names one file; give one for each language, as train.de train.en, or --languages de en for one that "
        "holds both");
  const std::vector languages{language_of(arguments.train[0]), language_of(arguments.train[1])};
  if (languages[0].empty() || languages[1].empty() || languages[0] == languages[1])
    throw Error(
        "--train: the names do not end with two languages, as train.de and train.en do; give --languages de en");
  return languages;
}

CorpusFiles corpus_of(const std::vector<std::string>& files, const std::string& option) {
  return {files.front(), files.size() > 1 ? files.back() : "", option, option};
}

/// How the other programs are called as this one was: "build/" before their names, or nothing.
std::string folder_of_programs(const fs::path& program) {
  if (!program.has_parent_path()) return "";
  const fs::path folder = fs::proximate(program.parent_path());
  return folder.string().starts_with("..") ? "" : (folder / "").string();
}

int run(const Arguments& arguments, const std::string& programs) {
  const fs::path config = arguments.config, folder = config.parent_path() / config.stem(), text = folder / "text";
  if (config.extension() != ".yaml" && config.extension() != ".yml")
    throw Error(fmt::format("{}: a configuration ends with .yaml; name it so", config.string()));
  for (const fs::path& made : {config, text})
    if (fs::exists(made) && !arguments.force)
      throw Error(fmt::format("{}: is there; give another name, or --force to replace it", made.string()));
  const auto languages = languages_of(arguments);
  const ReadingOptions reading{.source_language = languages[0], .target_language = languages[1]};
  const OwnText own(corpus_of(arguments.train, "--train"), reading);
  TextSurvey training = own.survey();
  if (training.pairs < kFewestPairs)
    throw Error(fmt::format("--train {}: {} pairs; a model needs at least {} to learn anything", arguments.train[0],
                            training.pairs, kFewestPairs));
  HeldOutSizes sizes = held_out_sizes(training.pairs);
  for (const auto& [files, option, size] :
       {std::tuple(&arguments.valid, "--valid", &sizes.valid), std::tuple(&arguments.test, "--test", &sizes.test)}) {
    if (files->empty()) continue;
    const TextSurvey set = OwnText(corpus_of(*files, option), reading).survey();
    fmt::print("{} {}: {} pairs\n", option, fmt::join(*files, " "), with_commas(set.pairs));
    *size = 0;
  }
  fmt::print("--train {}: {} pairs, {:.1f} words in a target sentence\n", fmt::join(arguments.train, " "),
             with_commas(training.pairs), training.words());
  const bool splits = sizes.valid + sizes.test > 0;
  if (splits) {
    fs::create_directories(text);
    const PartSizes parts = own.split(sizes, text);
    training.target_words = training.target_words * parts[0] / training.pairs;
    training.target_characters = training.target_characters * parts[0] / training.pairs;
    training.pairs = parts[0];
    fmt::print("{}: {} pairs for training, {} for validation, {} for the test, none with a line of another part\n",
               text.string(), with_commas(parts[0]), with_commas(parts[1]), with_commas(parts[2]));
  }
  // The files of a part: the user's, or those that were made.
  const auto files_of = [&](const std::vector<std::string>& given, size_t part) -> std::pair<std::string, std::string> {
    if (!given.empty()) return {given.front(), given.back()};
    const std::string made = (text / kTextParts[part]).string();
    return {made + "." + languages[0], made + "." + languages[1]};
  };
  const auto train = files_of(splits ? std::vector<std::string>() : arguments.train, 0);
  DataConfig data;
  data.dir = (folder / "prepared").string();
  data.source_language = languages[0], data.target_language = languages[1];
  data.train1 = {train.first}, data.train2 = {train.second};
  std::tie(data.eval1, data.eval2) = files_of(arguments.valid, 1);
  std::tie(data.test1, data.test2) = files_of(arguments.test, 2);
  const OwnPlan plan = plan_training(training);
  const std::string run_folder = (folder / "run").string();
  AtomicFile file(config);
  file.write(own_configuration(data, run_folder, training, plan));
  file.commit();
  fmt::print("{}: {}, {} epochs of about {} updates\n", config.string(), plan.preset, plan.num_epochs,
             with_commas(plan.updates_per_epoch));
  fmt::print("training takes about {:.0f} minutes on {}, by a table of speeds; nmt-train shows what is left here\n",
             std::ceil(plan.seconds / 60), kMeasuredProcessors);
  const auto cards = card_names();
  fmt::print(
      "here: {}, {} processors, {}\n", cpu_name(), default_threads(),
      cards.empty() ? "no card" : fmt::format("card {}, which the minutes do not count", fmt::join(cards, ", ")));
  fmt::print("next:\n");
  for (const std::string& command :
       {fmt::format("nmt-prepro -c {}", config.string()), fmt::format("nmt-train -c {}", config.string()),
        fmt::format("nmt-eval -c {}", config.string()),
        fmt::format("nmt-translate -m {}/best < new.{} > new.{}", run_folder, languages[0], languages[1])})
    fmt::print("  {}{}\n", programs, command);
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
    return run(arguments, folder_of_programs(argv[0]));
  });
}
