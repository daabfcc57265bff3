// nmt-distill: from a trained model to a small one that has its translations. Each step is one of the other programs;
// each of these resumes, or finds its work done, so the same command resumes all.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/program_description.h"
#include "base/process/subprogram.h"
#include "base/shard.h"
#include "command_line.h"
#include "config/loading/model_description.h"
#include "config/loading/presets.h"
#include "config/loading/schema.h"
#include "count_lines.h"
#include "data/synthetic_text.h"

namespace {

using namespace nmt;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Arguments {
  Words teachers, valid, test, settings;
  std::string source, reference, output, device;
  std::optional<Shard> shard;
  int64_t beam_size = 8, threads = 0;
  bool word_level = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", program_version("nmt-distill"));
  app.get_formatter()->column_width(36);
  const auto file = [&](const char* name, std::string& value, const char* help) {
    return app.add_option(name, value, help)->type_name("FILE");
  };
  const auto set = [&](const char* name, Words& value, const char* help) {
    return app.add_option(name, value, help)->expected(2)->type_name("FILE")->required();
  };
  app.add_option("-m,--model", arguments.teachers, "the teacher; several vote")->type_name("DIR")->required();
  file("--source", arguments.source, "what the teacher translates: the source side of the training text")->required();
  file("--reference", arguments.reference,
       "its translation line by line; of all hypotheses of the beam the student learns the one most like it, by chrF");
  set("--valid", arguments.valid, "source and reference of the validation set");
  set("--test", arguments.test, "source and reference of the test set");
  app.add_option("-o,--output", arguments.output,
                 "folder to write: DIR/model is the student in int8, DIR/run its training, DIR/gap.json what it costs")
      ->type_name("DIR")
      ->required();
  app.add_option("--beam-size", arguments.beam_size, "the teacher's, for the training text")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--shard", [&](const std::string& text) { arguments.shard = parse_shard(text); },
         "only translates part I of N of the training text; the same command without it takes the parts that "
         "stand in DIR")
      ->type_name("I/N");
  app.add_flag("--word-level", arguments.word_level,
               "the student also learns the distributions of the teacher, one model, with its vocabulary");
  app.add_option("--set", arguments.settings, "sets one option of the student, over the preset `student`")
      ->type_name("SECTION.KEY=VALUE");
  app.add_option("--device", arguments.device, "of all steps (default: auto)")->type_name("auto|cpu|cuda:N");
  app.add_option("--threads", arguments.threads, "of all steps (default: the processors of this machine)")
      ->check(CLI::PositiveNumber);
}

/// The folder of this program, where the others are.
fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// Regular files of a model directory but those that only a training needs.
int64_t size_of_model(const fs::path& directory) {
  int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "trainer.safetensors" && name != "state.json")
      bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

/// Throws Error where a setting is what another option says.
void check_settings(const Words& settings) {
  constexpr std::array<std::pair<std::string_view, const char*>, 9> kOthers{{{"data.dir", "-o"},
                                                                             {"run.dir", "-o"},
                                                                             {"data.train_tsv", "--source"},
                                                                             {"data.eval1", "--valid"},
                                                                             {"data.eval2", "--valid"},
                                                                             {"data.test1", "--test"},
                                                                             {"data.test2", "--test"},
                                                                             {"data.source_language", "-m"},
                                                                             {"data.target_language", "-m"}}};
  for (const std::string& setting : settings)
    for (const auto& [key, option] : kOthers)
      if (setting.substr(0, setting.find('=')) == key)
        throw Error(fmt::format("--set {}: is set by {} here; use that", key, option));
}

/// Found here, before the teacher has translated for hours.
void check_lengths(const std::string& option, const std::string& source, const std::string& target) {
  const auto lines = count_lines(source), others = count_lines(target);
  if (lines && others && *lines != *others)
    throw Error(fmt::format("{}: {} has {} lines, {} has {}; align the files", option, source, with_commas(*lines),
                            target, with_commas(*others)));
}

class Distillation {
 public:
  explicit Distillation(const Arguments& arguments)
      : arguments_(arguments), folder_(arguments.output), config_(folder_ / "student.yaml") {
    check_settings(arguments.settings);
    const DataConfig taught = read_model_description(arguments.teachers.front()).config.data;
    if (arguments.word_level) learn_distributions(taught);
    const Preset& preset = *find_preset("student");
    standard_ = parse_config(preset.yaml, "student").config;
    student_ = parse_config(preset.yaml, "student", settings()).config;
    student_.data.source_language = taught.source_language, student_.data.target_language = taught.target_language;
    student_.data.dir = (folder_ / "prepared").string(), student_.run.dir = (folder_ / "run").string();
    student_.data.eval1 = arguments.valid[0], student_.data.eval2 = arguments.valid[1];
    student_.data.test1 = arguments.test[0], student_.data.test2 = arguments.test[1];
  }

  int run() {
    check_lengths("--valid", arguments_.valid[0], arguments_.valid[1]);
    check_lengths("--test", arguments_.test[0], arguments_.test[1]);
    if (!arguments_.reference.empty()) check_lengths("--reference", arguments_.source, arguments_.reference);
    fs::create_directories(folder_);
    if (const auto& shard = arguments_.shard) {
      translate(part_file(*shard), shard);
      return kDone;
    }
    student_.data.train_tsv.clear();
    for (const fs::path& part : parts()) student_.data.train_tsv.push_back(part.string());
    if (student_.data.train_tsv.empty()) {
      student_.data.train_tsv.push_back((folder_ / "distilled.tsv").string());
      translate(student_.data.train_tsv.front(), std::nullopt);
    }
    train();
    const fs::path best = folder_ / "run" / "best", model = folder_ / "model";
    call("nmt-export",
         {"-m", best.string(), "--to", "nmt", "--quantization", "int8", "-o", model.string(), "--force", "-q"});
    measure(best, model);
    return kDone;
  }

 private:
  /// Prepares the pairs and trains. Where the data or the run that are there have other options, these refuse: the
  /// configuration stays the one of what is there.
  void train() const {
    const auto before = fs::exists(config_) ? std::optional(read_file(config_)) : std::nullopt;
    write_file_atomically(config_, fmt::format("# A student of {}\nbase: student\n{}",
                                               fmt::join(arguments_.teachers, " "), changed_yaml(student_, standard_)));
    try {
      for (const char* program : {"nmt-prepro", "nmt-train"}) call(program, {"-c", config_.string()});
    } catch (const ProgramFailed& failed) {
      if (before && failed.exit_code == kUserMustChange) write_file_atomically(config_, *before);
      throw;
    }
  }

  /// Word by word, Kim and Rush 2016: the objective takes the pieces of the teacher, and has no guided alignment.
  void learn_distributions(const DataConfig& taught) {
    if (arguments_.teachers.size() > 1) throw Error("--word-level: is of one teacher; name one -m");
    const std::string& teacher = arguments_.teachers.front();
    own_settings_ = {"training.objective=distillation",
                     "training.teacher=" + teacher,
                     "training.guided_alignment=0",
                     fmt::format("data.nfkc={}", taught.nfkc),
                     fmt::format("data.lowercase={}", taught.lowercase),
                     fmt::format("data.joint_vocabulary={}", taught.joint_vocabulary)};
    const char* const first = taught.joint_vocabulary ? "spm.model" : "source.spm";
    own_settings_.push_back(fmt::format("data.spm_model1={}/{}", teacher, first));
    if (!taught.joint_vocabulary) own_settings_.push_back(fmt::format("data.spm_model2={}/target.spm", teacher));
  }

  Words settings() const {
    Words all = own_settings_;
    all.insert(all.end(), arguments_.settings.begin(), arguments_.settings.end());
    if (!arguments_.device.empty()) all.push_back("run.device=" + arguments_.device);
    if (arguments_.threads > 0) all.push_back(fmt::format("run.threads={}", arguments_.threads));
    return all;
  }

  ProgramCost call(const std::string& program, const Words& arguments) const {
    fmt::print(stderr, "{} {}\n", program, fmt::join(arguments, " "));
    return run_program(own_folder() / program, arguments);
  }

  Words with_machine(Words arguments) const {
    if (!arguments_.device.empty()) arguments.insert(arguments.end(), {"--device", arguments_.device});
    if (arguments_.threads > 0) arguments.insert(arguments.end(), {"--threads", std::to_string(arguments_.threads)});
    return arguments;
  }

  fs::path part_file(const Shard& shard) const {
    return folder_ / fmt::format("distilled.{}-of-{}.tsv", shard.number, shard.count);
  }

  /// The files of --shard, in their order; none where there are none. Throws Error where one is missing.
  std::vector<fs::path> parts() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      Shard shard;
      if (std::sscanf(entry.path().filename().c_str(), "distilled.%6ld-of-%6ld.tsv", &shard.number, &shard.count) != 2)
        continue;
      std::vector<fs::path> all;
      for (shard.number = 1; shard.number <= shard.count; ++shard.number) {
        all.push_back(part_file(shard));
        if (!SyntheticText::read(all.back()))
          throw Error(fmt::format("{}: is not complete; run this command with --shard {}/{}", all.back().string(),
                                  shard.number, shard.count));
        is_there(all.back(), teacher_command(all.back(), shard));
      }
      return all;
    }
    return {};
  }

  Words teacher_command(const fs::path& pairs, const std::optional<Shard>& part) const {
    Words command;
    for (const std::string& teacher : arguments_.teachers) command.insert(command.end(), {"-m", teacher});
    command.insert(command.end(), {"-i", arguments_.source, "--synthesize", pairs.string(), "--synthetic-side",
                                   "target", "--beam-size", std::to_string(arguments_.beam_size)});
    if (!arguments_.reference.empty())
      command.insert(command.end(),
                     {"--n-best", std::to_string(arguments_.beam_size), "--nearest", arguments_.reference});
    if (part) command.insert(command.end(), {"--shard", fmt::format("{}/{}", part->number, part->count)});
    return with_machine(std::move(command));
  }

  /// Whether this command has made the pairs; they may have been copied from another folder. Throws Error where another
  /// one has: hours of a teacher's work are not written over.
  bool is_there(const fs::path& pairs, Words command) const {
    const auto made = SyntheticText::read(pairs);
    if (!made || !fs::exists(pairs)) return false;
    auto before = made->made.value("command", Words());
    for (Words* one : {&before, &command})
      for (const char* other : {"--synthesize", "--threads", "--device"})
        if (const auto name = std::ranges::find(*one, other); name != one->end()) one->erase(name, name + 2);
    if (before.empty() || !std::equal(before.begin() + 1, before.end(), command.begin(), command.end()))
      throw Error(fmt::format("{}: was made by another command, which {} has; name another -o, or delete both files",
                              pairs.string(), synthetic_text_file(pairs).string()));
    const auto inputs = made->made.value("inputs", std::map<std::string, std::string>());
    for (const std::string& file : {arguments_.source, arguments_.reference})
      if (const auto hash = inputs.find(file); hash != inputs.end() && hash->second != hash_of(file))
        throw Error(fmt::format("{}: was made of another {}; name another -o, or delete it and {}", pairs.string(),
                                file, synthetic_text_file(pairs).string()));
    return true;
  }

  const std::string& hash_of(const fs::path& file) const {
    auto& hash = hashes_[file];
    if (hash.empty()) hash = sha256_of_file(file);
    return hash;
  }

  /// The teacher's translations as pairs; those of an earlier call of the same command are taken as they are.
  void translate(const fs::path& pairs, const std::optional<Shard>& part) const {
    const Words command = teacher_command(pairs, part);
    if (is_there(pairs, command))
      fmt::print(stderr, "{}: is there\n", pairs.string());
    else
      call("nmt-translate", command);
  }

  /// The hash of what the table is of: programs, models, test set, search and processor.
  std::string key_of_table(const fs::path& best, const fs::path& model) const {
    Words models = arguments_.teachers;
    models.insert(models.end(), {best.string(), model.string()});
    auto key = fmt::format(
        "{} {} {} {} {} {}", version(), cpu_name(), student_.data.shortlist, student_.decoding.beam_size,
        fmt::join(student_.evaluation.tokenized_bleu.chosen_names(), " "), fmt::join(with_machine({}), " "));
    for (const std::string& directory : models) key += hash_of(fs::path(directory) / "model.safetensors");
    for (const std::string& file : arguments_.test) key += hash_of(file);
    return sha256_of_bytes(key);
  }

  /// Prints the table of the gap, and writes gap.json; takes it from there where it is of the same.
  void measure(const fs::path& best, const fs::path& model) const {
    struct System {
      std::string name;
      Words models, options;
    };
    const std::string candidates = std::to_string(student_.data.shortlist);
    std::vector<System> systems{{"teacher", arguments_.teachers, {}},
                                {"teacher, int8", arguments_.teachers, {"--precision", "int8"}},
                                {"student", {best.string()}, {}},
                                {"student, int8", {model.string()}, {"--precision", "int8"}}};
    if (student_.data.shortlist > 0)
      systems.push_back(
          {"student, int8, shortlist", {model.string()}, {"--precision", "int8", "--shortlist", candidates}});
    const std::string key = key_of_table(best, model);
    const fs::path gap = folder_ / "gap.json";
    auto rows = fs::exists(gap) ? parse_json_or_null(read_file(gap)) : nlohmann::json();
    if (rows.is_array() && !rows.empty() && rows[0].is_object() && rows[0].value("inputs", "") == key) {
      fmt::print(stderr, "{}: is there\n", gap.string());
      return print(rows);
    }
    rows = nlohmann::json::array();
    for (const int64_t beam : {student_.decoding.beam_size, int64_t{1}}) {
      for (const System& system : systems) {
        const fs::path report = folder_ / "gap.json.partial";
        Words command{"-m"};
        command.insert(command.end(), system.models.begin(), system.models.end());
        if (system.models.size() > 1) command.push_back("--ensemble");
        command.insert(command.end(), {"--source", arguments_.test[0], "--reference", arguments_.test[1], "--beam-size",
                                       std::to_string(beam), "--no-loss", "-q", "--report", report.string()});
        for (const std::string& form : student_.evaluation.tokenized_bleu.chosen_names())
          command.insert(command.end(), {"--tokenized-bleu", form});
        command.insert(command.end(), system.options.begin(), system.options.end());
        const ProgramCost cost = call("nmt-eval", with_machine(std::move(command)));
        const auto measured = read_json_file(report);
        fs::remove(report);
        int64_t bytes = 0;
        for (const std::string& directory : system.models) bytes += size_of_model(directory);
        const auto& result = measured.at("systems").at(0);
        rows.push_back({{"system", system.name},
                        {"beam_size", beam},
                        {"scores", result.at("scores")},
                        {"precision", result.at("precision")},
                        {"target_tokens_per_second", result.at("target_tokens_per_second")},
                        {"bytes_of_model", bytes},
                        {"peak_memory", cost.peak_memory},
                        {"processor", measured.at("processor")},
                        {"threads", measured.at("threads")},
                        {"inputs", key}});
      }
      if (student_.decoding.beam_size == 1) break;
    }
    write_file_atomically(gap, rows.dump(2) + "\n");
    print(rows);
  }

  static void print(const nlohmann::json& rows) {
    std::string names, rules;
    for (const auto& score : rows[0]["scores"]) {
      names += fmt::format(" {} |", score["name"].get<std::string>());
      rules += " -- |";
    }
    fmt::print("| system | beam |{} target tokens/s | MB | peak memory, MB |\n| -- | -- |{} -- | -- | -- |\n", names,
               rules);
    for (const auto& row : rows) {
      std::string scores;
      for (const auto& score : row["scores"]) scores += fmt::format(" {:.2f} |", score["score"].get<double>());
      fmt::print("| {} ({}) | {} |{} {} | {:.1f} | {:.0f} |\n", row["system"].get<std::string>(),
                 row["precision"].get<std::string>(), row["beam_size"].get<int64_t>(), scores,
                 with_commas(std::lround(row["target_tokens_per_second"].get<double>())),
                 row["bytes_of_model"].get<double>() / 1e6, row["peak_memory"].get<double>() / 1e6);
    }
  }

  const Arguments& arguments_;
  Words own_settings_;
  mutable std::map<fs::path, std::string> hashes_;  // of files that were read once
  fs::path folder_, config_;
  Config student_, standard_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_app("nmt-distill", [&] {
    CLI::App app("Makes a small model that has the translations of a large one, and shows what it costs.",
                 "nmt-distill");
    Arguments arguments;
    declare(app, arguments);
    show_examples(app,
                  {"nmt-distill -m runs/mine/best --source train.de --reference train.en --valid valid.de valid.en "
                   "--test test.de test.en -o student",
                   "nmt-translate -m student/model --shortlist 30 < new.de"});
    if (!parse_command_line(app, argc, argv)) return int{kDone};
    try {
      return Distillation(arguments).run();
    } catch (const ProgramFailed& failed) {  // it has said why
      return failed.exit_code;
    }
  });
}
