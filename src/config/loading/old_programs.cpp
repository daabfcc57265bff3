#include "config/loading/old_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "config/value.h"

namespace nmt {
namespace {

struct Row {
  std::string_view name;
  std::vector<std::string_view> keys;  // empty: no such option
  std::string_view reason = {};        // why there is none
};

/// Names of his that are leaf names here as well: flat in his programs, in a section here.
const std::vector<Row>& same_names() {
  static const std::vector<Row> rows{
      {"vocab_size", {"data.vocab_size"}},
      {"train1", {"data.train1"}},
      {"train2", {"data.train2"}},
      {"eval1", {"data.eval1"}},
      {"eval2", {"data.eval2"}},
      {"test1", {"data.test1"}},
      {"test2", {"data.test2"}},
      {"maxlen1", {"data.maxlen1"}},
      {"maxlen2", {"data.maxlen2"}},
      {"batch_size", {"training.batch_size"}},
      {"lr", {"training.lr"}},
      {"warmup_steps", {"training.warmup_steps"}},
      {"num_epochs", {"training.num_epochs"}},
      {"smoothing", {"training.smoothing"}},
      {"d_model", {"model.d_model"}},
      {"d_ff", {"model.d_ff"}},
      {"num_blocks", {"model.num_blocks"}},
      {"num_heads", {"model.num_heads"}},
      {"dropout_rate", {"model.dropout_rate"}},
  };
  return rows;
}

/// Names of his that are called otherwise here, or have no counterpart.
const std::vector<Row>& other_names() {
  static const std::vector<Row> rows{
      // 2019
      {"eval3", {}, "data.eval2 is the raw reference"},
      {"vocab", {}, "nmt-prepro keeps the vocabulary in data.dir; data.spm_model1 takes a ready SentencePiece model"},
      {"eval_batch_size", {}, "his program never reads it; decoding.batch_size is the batch of translation"},
      {"logdir", {"run.dir"}},
      {"evaldir", {"run.evaldir"}},
      {"ckpt", {}, "nmt-eval takes the run's best model, or -m MODEL_DIRECTORY"},
      {"test_batch_size", {"decoding.batch_size"}},
      {"testdir", {"run.testdir"}},
      // 2017
      {"source_train", {"data.train1"}},
      {"target_train", {"data.train2"}},
      {"source_test", {"data.test1"}},
      {"target_test", {"data.test2"}},
      {"maxlen", {"data.maxlen1", "data.maxlen2"}},
      {"min_cnt", {"data.min_cnt"}},
      {"hidden_units", {"model.d_model"}},
      {"sinusoid", {"model.positions"}},
  };
  return rows;
}

const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

/// A setting of `key`, at the place of another. Built in one go: assigning to a YAML::Node changes all its copies.
Setting renamed(const Setting& setting, std::string_view key, const YAML::Node& value) {
  const size_t point = key.find('.');
  return {std::string(key.substr(0, point)), std::string(key.substr(point + 1)), value, setting.source, setting.line};
}

/// His feed-forward net is four times as wide as hidden_units.
std::optional<Setting> implied_width(const Setting& hidden_units) {
  if (!hidden_units.value.IsScalar()) return std::nullopt;
  const std::string& text = hidden_units.value.Scalar();
  int32_t units = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return renamed(hidden_units, "model.d_ff", YAML::Node(std::to_string(4 * int64_t{units})));
}

/// What else his program takes from an option.
std::vector<std::string_view> followers(std::string_view name, OldProgram program) {
  if (program == OldProgram::k2019 && name == "maxlen2") return {"decoding.max_length_offset"};
  if (program == OldProgram::k2017 && name == "maxlen") return {"model.max_positions", "decoding.max_length_offset"};
  if (program == OldProgram::k2017 && name == "batch_size") return {"decoding.batch_size"};
  return {};
}

}  // namespace

std::optional<OldName> read_old_name(const Setting& setting, OldProgram program) {
  const Row* row = find_row(other_names(), setting.name);
  if (!row && setting.section.empty()) row = find_row(same_names(), setting.name);
  if (!row) return std::nullopt;

  OldName result;
  if (row->keys.empty()) {
    result.notice = fmt::format("{} has no effect: {}", setting.key(), row->reason);
    return result;
  }
  YAML::Node value = setting.value;
  std::string meaning;
  if (row->name == "sinusoid") {
    // Also an option of this toolkit, with texts: only his True and False are meant here.
    const auto truth = parse_truth(setting.value);
    if (!truth) return std::nullopt;
    meaning = *truth ? "sinusoidal" : "learned";
    value.reset(YAML::Node(meaning));
    if (*truth && program == OldProgram::k2017)
      result.implied.push_back(renamed(setting, "model.sinusoid", YAML::Node("legacy_raw")));
  }
  for (const auto key : row->keys) result.settings.push_back(renamed(setting, key, value));
  result.notice = fmt::format("{} is read as {}{}{}", setting.key(), fmt::join(row->keys, " and "),
                              meaning.empty() ? "" : ": ", meaning);
  for (const auto key : followers(row->name, program)) result.implied.push_back(renamed(setting, key, value));
  if (row->name == "hidden_units") {
    if (auto width = implied_width(setting)) {
      result.notice += fmt::format(", with model.d_ff {} unless that is set", width->value.Scalar());
      result.implied.push_back(std::move(*width));
    }
  }
  return result;
}

std::optional<OldName> read_old_value(const Setting& setting) {
  if (setting.key() != "run.naming" || !setting.value.IsScalar()) return std::nullopt;
  const std::string& value = setting.value.Scalar();
  if (value != "trevett" && value != "prenorm") return std::nullopt;
  return OldName{.settings = {renamed(setting, "run.naming", YAML::Node("plain"))},
                 .implied = {},
                 .notice = fmt::format("run.naming {} is read as plain: its file names and log lines are gone", value)};
}

namespace {

// The user's own: the preset has those of IWSLT 2016.
constexpr std::array<std::string_view, 7> kPathsOfText{"dir", "train1", "train2", "eval1", "eval2", "test1", "test2"};

bool is_path_of_text(std::string_view section, std::string_view name) {
  return section == "data" && std::find(kPathsOfText.begin(), kPathsOfText.end(), name) != kPathsOfText.end();
}

// Names that only one of the programs has. No option stands at the top level, so one of them is enough.
constexpr std::array<std::string_view, 20> kNamesOf2019{
    "vocab_size", "train1",       "train2",  "eval1",   "eval2",   "eval3", "vocab", "eval_batch_size",
    "evaldir",    "warmup_steps", "maxlen1", "maxlen2", "d_model", "d_ff",  "ckpt",  "test_batch_size",
    "testdir",    "smoothing",    "test1",   "test2"};
constexpr std::array<std::string_view, 8> kNamesOf2017{"source_train", "target_train", "source_test",  "target_test",
                                                       "maxlen",       "min_cnt",      "hidden_units", "sinusoid"};

const Setting* first_of(const std::vector<Setting>& settings, std::span<const std::string_view> names) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.line > 0 && setting.section.empty() &&
           std::find(names.begin(), names.end(), setting.name) != names.end();
  });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace

OldProgramSettings settings_of_old_program(const std::vector<Setting>& settings) {
  const Setting* of_2019 = first_of(settings, kNamesOf2019);
  const Setting* of_2017 = first_of(settings, kNamesOf2017);
  OldProgramSettings result;
  if (!of_2019 && !of_2017) return result;
  if (of_2019 && of_2017) {
    result.notice =
        fmt::format("{}: {} is a name of Kyubyong's program of 2017 and {} of that of 2019: neither's model is implied",
                    of_2017->where(), of_2017->name, of_2019->name);
    return result;
  }
  const Setting& sign = of_2019 ? *of_2019 : *of_2017;
  const int year = of_2019 ? 2019 : 2017;
  result.program = of_2019 ? OldProgram::k2019 : OldProgram::k2017;
  const auto preset = read_settings(of_2019 ? kyubyong2019_preset() : kyubyong2017_preset(),
                                    fmt::format("configs/kyubyong{}_iwslt16.yaml", year));
  // Built one by one: assigning to a YAML::Node, as erasing does, changes all its copies.
  for (const auto& [section, name, value, source, line] : preset)
    if (!is_path_of_text(section, name)) result.settings.push_back({section, name, value, sign.source, sign.line});
  result.notice = fmt::format(
      "{}: {} is a name of Kyubyong's program of {}: what is not set is as in configs/kyubyong{}_iwslt16.yaml",
      sign.where(), sign.name, year, year);
  return result;
}

}  // namespace nmt
