#include "config/loading/old_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "config/value.h"

namespace nmt {
namespace {

struct Row {
  std::string_view name;
  OldProgram program;                  // kNone: both have it
  std::vector<std::string_view> keys;  // empty: no such option
  std::string_view reason = {};        // why there is none
};

/// His names. One that is a leaf name here as well is his at the top level only.
const std::vector<Row>& his_names() {
  using enum OldProgram;
  static const std::vector<Row> rows{
      {"batch_size", kNone, {"training.batch_size"}},
      {"lr", kNone, {"training.lr"}},
      {"num_epochs", kNone, {"training.num_epochs"}},
      {"num_blocks", kNone, {"model.num_blocks"}},
      {"num_heads", kNone, {"model.num_heads"}},
      {"dropout_rate", kNone, {"model.dropout_rate"}},
      {"logdir", kNone, {"run.dir"}},

      {"vocab_size", k2019, {"data.vocab_size"}},
      {"train1", k2019, {"data.train1"}},
      {"train2", k2019, {"data.train2"}},
      {"eval1", k2019, {"data.eval1"}},
      {"eval2", k2019, {"data.eval2"}},
      {"eval3", k2019, {}, "data.eval2 is the raw reference"},
      {"test1", k2019, {"data.test1"}},
      {"test2", k2019, {"data.test2"}},
      {"maxlen1", k2019, {"data.maxlen1"}},
      {"maxlen2", k2019, {"data.maxlen2"}},
      {"warmup_steps", k2019, {"training.warmup_steps"}},
      {"smoothing", k2019, {"training.smoothing"}},
      {"d_model", k2019, {"model.d_model"}},
      {"d_ff", k2019, {"model.d_ff"}},
      {"vocab",
       k2019,
       {},
       "nmt-prepro keeps the vocabulary in data.dir; data.spm_model1 takes a ready SentencePiece model"},
      {"eval_batch_size", k2019, {}, "his program never reads it; decoding.batch_size is the batch of translation"},
      {"evaldir", k2019, {"run.evaldir"}},
      {"ckpt", k2019, {}, "nmt-eval takes the run's best model, or -m MODEL_DIRECTORY"},
      {"test_batch_size", k2019, {"decoding.batch_size"}},
      {"testdir", k2019, {"run.testdir"}},

      {"source_train", k2017, {"data.train1"}},
      {"target_train", k2017, {"data.train2"}},
      {"source_test", k2017, {"data.test1"}},
      {"target_test", k2017, {"data.test2"}},
      {"maxlen", k2017, {"data.maxlen1", "data.maxlen2"}},
      {"min_cnt", k2017, {"data.min_cnt"}},
      {"hidden_units", k2017, {"model.d_model"}},
      {"sinusoid", k2017, {"model.positions"}},
  };
  return rows;
}

/// The row of a setting, if its name is one of his.
const Row* find_row(const Setting& setting) {
  const auto found = std::ranges::find(his_names(), setting.name, &Row::name);
  if (found == his_names().end()) return nullptr;
  const bool is_ours = !found->keys.empty() && found->keys.front().ends_with("." + setting.name);
  return is_ours && !setting.section.empty() ? nullptr : &*found;
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
  const Row* row = find_row(setting);
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

/// The first setting whose name only this program has. No option stands at the top level, so one is enough.
const Setting* first_of(const std::vector<Setting>& settings, OldProgram program) {
  const auto found = std::ranges::find_if(settings, [&](const Setting& setting) {
    const Row* row = setting.line > 0 && setting.section.empty() ? find_row(setting) : nullptr;
    return row && row->program == program;
  });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace

OldProgramSettings settings_of_old_program(const std::vector<Setting>& settings) {
  const Setting* of_2019 = first_of(settings, OldProgram::k2019);
  const Setting* of_2017 = first_of(settings, OldProgram::k2017);
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
