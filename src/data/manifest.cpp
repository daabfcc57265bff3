#include "data/manifest.h"

#include <fmt/format.h>

#include <set>

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "config/config.h"
#include "config/option_listing.h"

namespace nmt {

// Called by nlohmann::json, which finds them by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InputFile, option, path, size, modified, sha256)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SplitRecord, name, pairs, source_pieces, target_pieces, source_unknown,
                                   target_unknown, sha256)

namespace {

using nlohmann::json;

constexpr const char* kManifestFormat = "nmt prepared data";
constexpr int kManifestVersion = 1;

json to_json(const CleaningRow& row) {
  json verdicts = json::object();
  for (int i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    verdicts[name_of_verdict(verdict)] = row.counts.of(verdict);
  }
  return {{"corpus", row.name},
          {"training", row.is_training},
          {"read", row.counts.read},
          {"verdicts", verdicts},
          {"duplicates_found", row.counts.duplicates},
          {"test_overlap_found", row.counts.test_overlap},
          {"repaired_lines", row.counts.repaired_lines}};
}

CleaningRow cleaning_row(const json& record) {
  CleaningRow row;
  record.at("corpus").get_to(row.name);
  record.at("training").get_to(row.is_training);
  record.at("read").get_to(row.counts.read);
  for (int i = 0; i < kVerdicts; ++i) {
    const auto name = name_of_verdict(static_cast<Verdict>(i));
    auto& count = row.counts.verdicts[static_cast<size_t>(i)];
    if (static_cast<Verdict>(i) < Verdict::kContent)
      record.at("verdicts").at(name).get_to(count);
    else
      count = record.at("verdicts").value(name, int64_t{0});  // older versions have no such rules
  }
  record.at("duplicates_found").get_to(row.counts.duplicates);
  record.at("test_overlap_found").get_to(row.counts.test_overlap);
  record.at("repaired_lines").get_to(row.counts.repaired_lines);
  return row;
}

Manifest parse(const json& record) {
  Manifest manifest;
  record.at("options").get_to(manifest.options);
  record.at("seed").get_to(manifest.seed);
  record.at("sampled").get_to(manifest.sampled);
  manifest.tokenizer = record.at("tokenizer");
  record.at("inputs").get_to(manifest.inputs);
  record.at("splits").get_to(manifest.splits);
  for (const auto& row : record.at("cleaning")) manifest.cleaning.push_back(cleaning_row(row));
  manifest.other_files = record.value("original_files", manifest.other_files);
  manifest.lexicon = record.value("lexicon", "");  // older versions made none
  manifest.alignment = record.value("alignment", "");
  manifest.synthetic = record.value("synthetic", manifest.synthetic);
  return manifest;
}

}  // namespace

void Manifest::write(const std::filesystem::path& directory) const {
  json rows = json::array();
  for (const auto& row : cleaning) rows.push_back(to_json(row));
  json record = {{"format", kManifestFormat},
                 {"version", kManifestVersion},
                 {"made_by", "nmt " + nmt::version()},
                 {"options", options},
                 {"seed", seed},
                 {"sampled", sampled},
                 {"tokenizer", tokenizer},
                 {"inputs", inputs},
                 {"splits", splits},
                 {"cleaning", rows},
                 {"lexicon", lexicon}};
  if (!alignment.empty()) record["alignment"] = alignment;
  if (!synthetic.empty()) record["synthetic"] = synthetic;
  if (!other_files.empty()) record["original_files"] = other_files;
  // Paths may hold bytes that are not UTF-8, which JSON has no way to write.
  write_file_atomically(directory / kManifestFile, record.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Manifest Manifest::read(const std::filesystem::path& directory) {
  const auto path = directory / kManifestFile;
  if (!std::filesystem::exists(path)) {
    throw Error(fmt::format("data.dir {}: no prepared data there; run nmt-prepro -c CONFIG first", directory.string()));
  }
  if (!std::filesystem::is_regular_file(path))  // a pipe would be waited for
    throw Error(fmt::format("{}: is not a regular file; move it, or set another data.dir", path.string()));
  try {
    const json record = parse_json_or_null(read_file(path, JsonLimits().bytes));
    if (record.at("format") != kManifestFormat) throw Error(path.string() + ": not a manifest of nmt-prepro");
    if (const int version = record.at("version"); version != kManifestVersion) {
      throw Error(fmt::format("{}: of format version {}, where {} is read; run nmt-prepro again with --overwrite",
                              path.string(), version, kManifestVersion));
    }
    return parse(record);
  } catch (const json::exception&) {
    throw damaged_manifest(directory);
  }
}

const SplitRecord* Manifest::find_split(const std::string& name) const {
  for (const auto& split : splits) {
    if (split.name == name) return &split;
  }
  return nullptr;
}

std::string Manifest::hash() const {
  json content = {{"tokenizer", tokenizer}};
  for (const auto& split : splits) content[split.name] = split.sha256;
  return sha256_of_bytes(content.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::map<std::string, std::string> data_options(const Config& config) { return section_values(config, "data"); }

std::vector<std::string> data_differences(const Manifest& manifest, const Config& config) {
  const auto after = data_options(config), defaults = data_options(Config());
  const auto& before = manifest.options;
  const auto value = [&](const std::map<std::string, std::string>& options, const std::string& name) {
    if (const auto found = options.find(name); found != options.end()) return found->second;
    const auto usual = defaults.find(name);  // the manifest of an older version: as if the option were not set
    return usual == defaults.end() ? std::string("not known") : usual->second;
  };
  std::set<std::string> names;
  for (const auto& option : before) names.insert(option.first);
  for (const auto& option : after) names.insert(option.first);
  names.erase("dir");
  for (const char* of_use : {"lines", "keep_best"}) names.erase(of_use);  // no data are other for it
  std::vector<std::string> differences;
  for (const auto& name : names) {
    if (value(before, name) == value(after, name)) continue;
    differences.push_back(fmt::format("data.{}: {} -> {}", name, value(before, name), value(after, name)));
  }
  return differences;
}

void require_complete(const Manifest& manifest, const Config& config, const std::filesystem::path& directory) {
  const DataConfig& data = config.data;
  bool is_complete = manifest.find_split("train") != nullptr;
  size_t corpora = data.train1.size() + data.train_tsv.size();
  for (const auto& sets : {validation_sets(data), test_sets(data)})
    for (const auto& set : sets) {
      is_complete = is_complete && manifest.find_split(set.split) != nullptr;
      ++corpora;
    }
  if (!is_complete || manifest.cleaning.size() != corpora) throw damaged_manifest(directory);
}

Error damaged_manifest(const std::filesystem::path& directory) {
  return Error((directory / kManifestFile).string() + ": damaged; run nmt-prepro again with --overwrite");
}

}  // namespace nmt
