#include "server/models/service_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_count.h"
#include "base/error.h"
#include "base/files/file.h"
#include "config/option_table.h"
#include "config/rules/consistency.h"
#include "config/value.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestFile = 1 << 20;  // bytes

/// Reads values and says where they stand.
class Reader {
 public:
  explicit Reader(fs::path file) : file_(std::move(file)) {}

  std::string where(const YAML::Node& node) const {
    const auto mark = node.Mark();
    return mark.is_null() ? file_.string() : fmt::format("{}:{}", file_.string(), mark.line + 1);
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw Error(fmt::format("{}: {}", where(node), what));
  }

  void check_map(const YAML::Node& node, const char* what, std::initializer_list<std::string_view> names) const {
    if (!node.IsMap()) fail(node, fmt::format("{}: names and values were expected", what));
    std::vector<std::string> seen;
    for (const auto& item : node) {
      const auto name = item.first.Scalar();
      if (std::ranges::find(names, name) == names.end())
        fail(item.first,
             fmt::format("{}: no such setting of {}; there are {}", shown(name), what, fmt::join(names, ", ")));
      if (std::ranges::find(seen, name) != seen.end()) fail(item.first, fmt::format("{} stands twice", name));
      seen.push_back(name);
    }
  }

  std::string text(const YAML::Node& node, const char* name) const {
    if (!node.IsScalar() || node.Scalar().empty()) fail(node, fmt::format("{}: a text was expected", name));
    return node.Scalar();
  }
  std::vector<std::string> texts(const YAML::Node& node, const char* name) const {
    if (!node.IsSequence()) return {text(node, name)};
    std::vector<std::string> list;
    for (const auto& item : node) list.push_back(text(item, name));
    return list;
  }
  double number(const YAML::Node& node, const char* name, std::string_view digits) const {
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !std::isfinite(value) || value < 0)
      fail(node, fmt::format("{}: a number that is not negative was expected", name));
    return value;
  }
  /// A number of bytes as parse_bytes() reads it, or a bare number of bytes.
  int64_t bytes(const YAML::Node& node, const char* name) const {
    const auto number = text(node, name);
    int64_t bytes = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), bytes);
    if (read.ec == std::errc() && read.ptr == number.data() + number.size() && bytes >= 0) return bytes;
    return parse_bytes(fmt::format("{}: {}", where(node), name), number);
  }
  /// The code of a language: "de", "zh-Hans", "pt_BR". A number is a slip.
  std::string language(const YAML::Node& node, const char* name) const {
    const auto code = text(node, name);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!is_letter(code.front()))
      fail(node, fmt::format("{}: {} is no code of a language; write one such as de or zh-Hans", name, shown(code)));
    return code;
  }

  const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

/// What is said of the search, for a model whose own configuration is not known yet.
std::function<Config(const Config&)> changes(const Reader& reader, const YAML::Node& node) {
  struct Change {
    const Option* option;
    YAML::Node value;
    std::string where;
  };
  if (!node.IsMap()) reader.fail(node, "decoding: names and values were expected");
  std::vector<Change> list;
  Config probe;
  for (const auto& item : node) {
    const auto name = item.first.Scalar();
    const Option* const option = find_option("decoding", name);
    if (!option) reader.fail(item.first, fmt::format("{}: no such option of decoding (docs/options.md)", shown(name)));
    list.push_back({option, item.second, reader.where(item.second)});
    assign_value(probe, *option, item.second, list.back().where);
  }
  return [list = std::move(list), where = reader.where(node)](Config config) {
    for (const auto& [option, value, place] : list) assign_value(config, *option, value, place);
    check_consistency(config, where);
    return config;
  };
}

ServiceModel read_model(const Reader& reader, const YAML::Node& node) {
  reader.check_map(
      node, "a model",
      {"directory", "adapter", "weights", "source", "target", "prefix", "decoding", "glossary", "keep_placeholders"});
  if (!node["directory"]) reader.fail(node, "a model without a directory");
  ServiceModel model;
  model.place = reader.where(node) + ": ";
  for (const auto& directory : reader.texts(node["directory"], "directory"))
    model.directories.push_back(reader.file().parent_path() / directory);
  if (const auto adapter = node["adapter"]) {
    if (model.directories.size() > 1) reader.fail(adapter, "adapter: is of one model, and this is an ensemble");
    model.adapter = reader.file().parent_path() / reader.text(adapter, "adapter");
  }
  if (const auto weights = node["weights"]) {
    for (const auto& text : reader.texts(weights, "weights")) {
      model.weights.push_back(reader.number(weights, "weights", text));
      if (model.weights.back() <= 0) reader.fail(weights, "weights: must be more than 0");
    }
    if (model.weights.size() != model.directories.size())
      reader.fail(weights, fmt::format("weights: {} for {} folders; give one for each", model.weights.size(),
                                       model.directories.size()));
    if (model.weights.size() == 1)
      reader.fail(weights, "weights: are of an ensemble, and this is one model; leave it out");
  }
  if (const auto source = node["source"]) model.source = reader.language(source, "source");
  if (const auto target = node["target"]) model.target = reader.language(target, "target");
  if (const auto prefix = node["prefix"]) model.source_prefix = reader.text(prefix, "prefix");
  if (const auto glossary = node["glossary"]) {
    model.glossary_file = reader.file().parent_path() / reader.text(glossary, "glossary");
    model.glossary = read_service_glossary(model.glossary_file);
  }
  if (const auto keep = node["keep_placeholders"]) {
    const auto value = reader.text(keep, "keep_placeholders");
    if (value != "true" && value != "false") reader.fail(keep, "keep_placeholders: true or false was expected");
    model.keep_placeholders = value == "true";
  }
  if (const auto decoding = node["decoding"]) {
    model.changed = changes(reader, decoding);
    std::map<std::string, std::string> values;
    for (const auto& item : decoding)
      values[item.first.Scalar()] = item.second.IsScalar() ? item.second.Scalar() : YAML::Dump(item.second);
    for (const auto& [name, value] : values) model.decoding += fmt::format("{}: {}\n", name, value);
  }
  return model;
}

}  // namespace

std::shared_ptr<const Glossary> read_service_glossary(const fs::path& file) {
  constexpr size_t kLargest = 64 << 20;  // bytes
  return std::make_shared<const Glossary>(Glossary::parse(read_regular_file(file, kLargest), file.string()));
}

ServiceConfig read_service_config(const fs::path& file) try {
  const Reader reader(file);
  const YAML::Node root = YAML::Load(read_regular_file(file, kLargestFile));
  reader.check_map(root, "a service", {"models", "memory", "pivots", "aliases"});
  ServiceConfig config;
  const auto models = root["models"];
  if (!models || !models.IsSequence() || models.size() == 0)
    reader.fail(models ? models : root, "models: a list of models was expected");
  for (const auto& model : models) config.models.push_back(read_model(reader, model));
  const auto place = [&](const YAML::Node& node, const char* name) {
    return fmt::format("{}: {}: ", reader.where(node), name);
  };
  if (const auto memory = root["memory"]) {
    config.memory = reader.bytes(memory, "memory");
    config.places["memory"] = place(memory, "memory");
  }
  if (const auto pivots = root["pivots"]) {
    for (const auto& pivot : reader.texts(pivots, "pivots")) {
      config.pivots.push_back(pivot);
      config.places["pivots " + pivot] = place(pivots, "pivots");
    }
  }
  if (const auto aliases = root["aliases"]) {
    if (!aliases.IsMap()) reader.fail(aliases, "aliases: codes, each with the one that it stands for");
    for (const auto& item : aliases) {
      const auto alias = reader.language(item.first, "aliases");
      if (same_ignoring_case(alias, "auto"))
        reader.fail(item.first,
                    fmt::format("aliases: {} is what clients write to have the language found; leave it out", alias));
      for (const auto& [other, code] : config.aliases)
        if (same_ignoring_case(other, alias))
          reader.fail(item.first, fmt::format("aliases: {} stands twice; case does not count", alias));
      config.aliases[alias] = reader.language(item.second, "aliases");
      config.places["aliases " + alias] = place(item.first, "aliases");
    }
  }
  return config;
} catch (const YAML::Exception& error) {
  throw Error(fmt::format("{}:{}: not YAML: {}", file.string(), error.mark.line + 1, error.msg));
}

}  // namespace nmt
