#include "config/loading/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "config/loading/presets.h"
#include "config/option_table.h"
#include "config/suggestion.h"
#include "config/value.h"

namespace nmt {
namespace {

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

/// The files that are being read, each the base of the one before.
class Reader {
 public:
  std::vector<Setting> read_file(const std::filesystem::path& file) {
    std::error_code failed;  // where it cannot be told, reading says why
    open_.push_back({std::filesystem::weakly_canonical(file, failed), file.string()});
    files_.push_back(file);
    auto settings = read_text(nmt::read_file(file), file.string());
    open_.pop_back();
    return settings;
  }

  std::vector<Setting> read_text(const std::string& yaml, const std::string& name);

  std::vector<std::filesystem::path> files() const { return files_; }

 private:
  YAML::Node parse(const std::string& yaml, const std::string& name) const;
  std::vector<Setting> read_base(const Setting& base);

  struct OpenFile {
    std::filesystem::path canonical;
    std::string name;
  };
  void check_cycle(const Setting& base, const std::filesystem::path& file) const;

  std::vector<OpenFile> open_;  // none: text that is no file
  std::vector<std::filesystem::path> files_;
};

[[noreturn]] void refuse(const std::string& name, int line, const std::string& why) {
  throw Error(fmt::format("{}:{}: {}", name, line, why));
}

/// Whether a scalar that begins at `at` is in quotes that are never closed.
bool is_never_closed(const std::string& yaml, size_t at) {
  // A tag and an anchor may stand before the quotes.
  while (at < yaml.size() && (yaml[at] == '!' || yaml[at] == '&'))
    at = yaml.find_first_not_of(" \t\r\n", yaml.find_first_of(" \t\r\n", at));
  if (at >= yaml.size() || (yaml[at] != '"' && yaml[at] != '\'')) return false;
  const char quote = yaml[at++];
  for (; at < yaml.size(); ++at) {
    if (quote == '"' && yaml[at] == '\\')
      ++at;
    else if (yaml[at] == quote && quote == '\'' && at + 1 < yaml.size() && yaml[at + 1] == quote)
      ++at;
    else if (yaml[at] == quote)
      return false;
  }
  return true;
}

/// Looks at the documents of a text without building them, for what YAML::Load() takes without a word.
class DocumentScan : public YAML::EventHandler {
 public:
  explicit DocumentScan(const std::string& yaml) {
    std::istringstream text(yaml);
    YAML::Parser parser(text);
    if (!parser.HandleNextDocument(*this)) return;
    // An open quote takes all that follows: it is that of the last scalar.
    const size_t begin = byte_order_mark_length(yaml);  // yaml-cpp counts from behind a byte order mark
    if (last_scalar_ && is_never_closed(yaml, begin + static_cast<size_t>(last_scalar_->pos)))
      open_quote_ = last_scalar_->line + 1;
    line_ = 0;
    if (parser.HandleNextDocument(*this)) second_document_ = std::max(1, line_);
  }
  /// The line of quotes that are never closed: yaml-cpp ends them with the text. 0: there are none.
  int open_quote() const { return open_quote_; }
  /// The line of the second document, 0 where there is one alone. YAML::LoadAll() instead would never come to an end of
  /// some damaged texts, where a document takes nothing of the text.
  int second_document() const { return second_document_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
    see(mark);
    last_scalar_ = mark;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnMapEnd() override {}

 private:
  void see(const YAML::Mark& mark) {
    if (line_ == 0) line_ = mark.line + 1;
  }
  int line_ = 0, open_quote_ = 0, second_document_ = 0;
  std::optional<YAML::Mark> last_scalar_;
};

/// Whether line `line`, from 0, begins with a tab, or with spaces and a tab.
bool is_indented_by_tab(const std::string& yaml, int line) {
  std::istringstream text(yaml);
  std::string found;
  for (int i = 0; i <= line; ++i) std::getline(text, found);
  return found.substr(0, found.find_first_not_of(" \t")).find('\t') != std::string::npos;
}

/// The line, from 1, of a place in a text.
int line_at(const std::string& yaml, size_t offset) {
  return 1 + static_cast<int>(std::count(yaml.begin(), yaml.begin() + static_cast<int64_t>(offset), '\n'));
}

/// What yaml-cpp found wrong.
std::string reason_of(const YAML::Exception& error) {
  // Its own words for this are "bad file".
  if (dynamic_cast<const YAML::DeepRecursion*>(&error)) return "not YAML for a configuration: nested too deep";
  return fmt::format("not YAML: {}", error.msg);
}

YAML::Node Reader::parse(const std::string& yaml, const std::string& name) const {
  if (const auto offset = find_invalid_utf8(yaml))
    refuse(name, line_at(yaml, *offset), "not UTF-8 text; save the file as UTF-8");
  // To yaml-cpp such a file is one line, and all of it a comment where it begins with one.
  for (size_t at = yaml.find('\r'); at != std::string::npos; at = yaml.find('\r', at + 1))
    if (yaml.compare(at, 2, "\r\n") != 0)
      refuse(name, line_at(yaml, at), "a line ends with CR alone; save the file with line ends LF");
  try {
    const DocumentScan scan(yaml);
    if (scan.open_quote() > 0) refuse(name, scan.open_quote(), "not YAML: a quote that is never closed");
    if (scan.second_document() > 0) {
      refuse(name, scan.second_document(), "a second YAML document; a configuration is one document");
    }
    return YAML::Load(yaml);
  } catch (const YAML::Exception& error) {
    if (is_indented_by_tab(yaml, error.mark.line))
      refuse(name, error.mark.line + 1, "not YAML: indented by a tab; YAML takes spaces only");
    refuse(name, std::max(1, error.mark.line + 1), reason_of(error));
  }
}

/// The entries of a map in their order, each name once.
std::vector<Setting> entries(const YAML::Node& map, const std::string& section, const std::string& name) {
  std::vector<Setting> result;
  std::map<std::string, int> lines;
  for (const auto& entry : map) {
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar()) refuse(name, line, "a name must be a plain word");
    Setting setting{section, entry.first.Scalar(), entry.second, name, line};
    const auto [first, is_new] = lines.emplace(setting.name, line);
    if (!is_new) refuse(name, line, fmt::format("{} is set twice, first in line {}", setting.key(), first->second));
    result.push_back(std::move(setting));
  }
  return result;
}

bool is_section(const std::string& name) {
  return std::any_of(sections().begin(), sections().end(),
                     [&](const Section& section) { return section.name == name; });
}

void Reader::check_cycle(const Setting& base, const std::filesystem::path& file) const {
  std::error_code failed;
  const auto canonical = std::filesystem::weakly_canonical(file, failed);
  if (failed) return;  // such a file cannot be open
  const auto same = [&](const OpenFile& open) { return open.canonical == canonical; };
  const auto first = std::find_if(open_.begin(), open_.end(), same);
  if (first == open_.end()) return;
  std::string chain;
  for (auto open = first; open != open_.end(); ++open) chain += open->name + " -> ";
  refuse(base.source, base.line, "base: the files are each other's base: " + chain + file.string());
}

std::vector<Setting> Reader::read_base(const Setting& base) {
  if (open_.empty())
    refuse(base.source, base.line,
           "base: stands in a configuration file only; what is stored is complete, leave it out");
  if (!base.value.IsScalar() || base.value.Scalar().empty()) {
    refuse(base.source, base.line, "base: needs the name of a file or a preset");
  }
  const auto file = (std::filesystem::path(base.source).parent_path() / base.value.Scalar()).lexically_normal();
  check_cycle(base, file);
  std::error_code failed;
  if (!std::filesystem::exists(file, failed)) {
    if (const Preset* preset = find_preset(base.value.Scalar()))
      return read_text(preset->yaml, std::string(preset->name));
    std::vector<std::string_view> names;
    for (const Preset& preset : presets()) names.push_back(preset.name);
    refuse(base.source, base.line,
           fmt::format("base: no such file {}; presets are {}", file.string(), fmt::join(names, ", ")));
  }
  if (!std::filesystem::is_regular_file(file, failed))  // a device never ends, a pipe keeps us waiting
    refuse(base.source, base.line, fmt::format("base: {} is no regular file; name one", file.string()));
  return read_file(file);
}

std::vector<Setting> Reader::read_text(const std::string& yaml, const std::string& name) {
  const YAML::Node root = parse(yaml, name);
  if (root.IsNull()) return {};
  if (!root.IsMap()) refuse(name, std::max(1, line_of(root)), "not a map of sections such as 'training:'");
  std::vector<Setting> before, own;
  for (auto& entry : entries(root, "", name)) {
    if (entry.name == "base") {
      before = read_base(entry);
    } else if (!is_section(entry.name)) {
      if (entry.value.IsMap())
        refuse(name, entry.line, "unknown section " + shown(entry.name) + suggest_section(entry.name));
      own.push_back(std::move(entry));
    } else if (entry.value.IsMap()) {
      for (auto& setting : entries(entry.value, entry.name, name)) own.push_back(std::move(setting));
    } else if (!entry.value.IsNull()) {
      refuse(name, entry.line, fmt::format("{}: needs options below it, such as '{}: value'", entry.name, "name"));
    }
  }
  before.insert(before.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return before;
}

YAML::Node parse_one_value(const std::string& text, const std::string& where) {
  try {
    const DocumentScan scan(text);
    if (scan.open_quote() > 0) throw Error(where + ": not YAML: a quote that is never closed");
    if (scan.second_document() > 0)
      throw Error(fmt::format("{}: more than one value; put all of a text in quotes, all of a list in [ ]", where));
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}: {}", where, reason_of(error)));
  }
}

}  // namespace

std::string Setting::where() const { return line > 0 ? fmt::format("{}:{}", source, line) : source; }

std::string Setting::key() const { return section.empty() ? shown(name) : section + "." + shown(name); }

FileSettings read_settings(const std::filesystem::path& file) {
  Reader reader;
  auto settings = reader.read_file(file);
  return {std::move(settings), reader.files()};
}

std::vector<Setting> read_settings(const std::string& yaml, const std::string& name) {
  return Reader().read_text(yaml, name);
}

YAML::Node parse_value(const Option& option, const std::string& text, const std::string& where) {
  Config config;
  const Field field = option.of(config);
  const bool is_text = std::holds_alternative<std::string*>(field);
  const bool is_list = std::holds_alternative<std::vector<std::string>*>(field) ||
                       std::holds_alternative<std::vector<int64_t>*>(field) ||
                       std::holds_alternative<std::vector<double>*>(field);
  const bool is_quoted = text.starts_with('"') || text.starts_with('\'');
  if ((is_text && !is_quoted) || (is_list && !is_quoted && !text.starts_with('['))) return YAML::Node(text);
  return parse_one_value(text, where);
}

Setting parse_setting(const std::string& text) {
  if (find_invalid_utf8(text)) throw Error("--set: a setting that is not UTF-8 text");
  Setting setting;
  setting.source = "--set " + shown(text);
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(fmt::format("{}: write section.key=value, for example --set training.lr=0.001", setting.source));
  }
  const std::string key = text.substr(0, equals);
  const size_t point = key.find('.');
  setting.section = point == std::string::npos ? "" : key.substr(0, point);
  setting.name = point == std::string::npos ? key : key.substr(point + 1);
  if (!setting.section.empty() && !is_section(setting.section)) {
    throw Error(fmt::format("{}: unknown section {}{}", setting.source, shown(setting.section),
                            suggest_section(setting.section)));
  }
  const std::string value = text.substr(equals + 1);
  const Option* option = find_option(setting.section, setting.name);
  setting.value = option ? parse_value(*option, value, setting.source) : parse_one_value(value, setting.source);
  return setting;
}

}  // namespace nmt
