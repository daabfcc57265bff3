#include "data/preparation/data_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/folders/output_folder.h"
#include "base/process/user_files.h"
#include "config/config.h"
#include "data/lexicon.h"
#include "data/pair_scores.h"
#include "data/prepared_corpus.h"
#include "text/codec/codec.h"

namespace fs = std::filesystem;

namespace nmt {

DataFolder::DataFolder(const Config& config, Overwrite overwrite, std::vector<std::string> vocabulary_files,
                       std::set<std::string> other_files, Logger& log)
    : config_(config),
      overwrite_(overwrite),
      log_(log),
      folder_(config.data.dir),
      vocabulary_files_(std::move(vocabulary_files)) {
  names_.merge(other_files);
  names_.insert({kLexiconFile, kPieceLinksFile});
  for (const auto score : {PairScore::kForward, PairScore::kBackward, PairScore::kAligner})
    names_.insert(score_file({}, score).string());
  for (const auto& name : vocabulary_files_) names_.insert({name, readable_name(name)});
  for (const auto& sets : {validation_sets(config.data), test_sets(config.data)})
    for (const auto& set : sets) names_.insert(set.split + ".bin");  // the manifest there may be damaged
}

std::optional<Manifest> DataFolder::find_data(std::vector<InputFile>& inputs, const TextCodec* codec) {
  if (!fs::exists(folder_ / kManifestFile)) return std::nullopt;
  const bool replace = overwrite_ == Overwrite::kReplace;
  std::vector<std::string> changes;
  Manifest there;
  try {
    there = Manifest::read(folder_);
    for (const auto& split : there.splits) names_.insert(split.name + ".bin");
    names_.insert(there.other_files.begin(), there.other_files.end());
    if (there.tokenizer.contains("files")) {
      for (const auto& file : there.tokenizer["files"].items()) names_.insert({file.key(), readable_name(file.key())});
    }
    changes = changes_since(there, inputs, codec);
  } catch (const Error& error) {
    if (!replace) throw;
    changes.push_back(error.what());
  }
  if (changes.empty()) return there;
  if (!replace) {
    throw Error(fmt::format("data.dir {}: holds other data ({}); --overwrite makes it again, or set another data.dir",
                            config_.data.dir, fmt::join(changes, "; ")));
  }
  changes_ = std::move(changes);
  return std::nullopt;
}

std::vector<std::string> DataFolder::changes_since(const Manifest& manifest, std::vector<InputFile>& inputs,
                                                   const TextCodec* codec) const {
  std::vector<std::string> changes = data_differences(manifest, config_);
  if (manifest.sampled && manifest.seed != static_cast<uint64_t>(config_.run.seed)) {
    changes.push_back(fmt::format("run.seed: {} -> {}", manifest.seed, config_.run.seed));
  }
  if (!changes.empty()) return changes;
  require_complete(manifest, config_, folder_);
  if (manifest.inputs.size() != inputs.size()) throw damaged_manifest(folder_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputFile& now = inputs[i];
    const InputFile& then = manifest.inputs[i];
    if (now.size == then.size && now.modified == then.modified) {
      now.sha256 = then.sha256;
      continue;
    }
    now.sha256 = sha256_of_file(now.path);
    if (now.sha256 != then.sha256) changes.push_back(fmt::format("{} {} has changed", now.option, now.path));
  }
  // These throw where a file was damaged since.
  const auto own = TextCodec::load(folder_, manifest.tokenizer);
  if (codec)
    for (const auto& difference : codec_differences(*codec, own))
      changes.push_back(fmt::format("training.init_from {}: {}", config_.training.init_from, difference));
  for (const auto& split : manifest.splits) {
    PreparedCorpus(folder_ / (split.name + ".bin")).verify(split.sha256, own.source().size(), own.target().size());
  }
  if (!manifest.lexicon.empty()) Lexicon::read(folder_ / kLexiconFile);
  if (!manifest.alignment.empty())
    PieceLinks(folder_ / kPieceLinksFile, manifest.alignment, PreparedCorpus(folder_ / "train.bin"));
  return changes;
}

void DataFolder::refuse_losses(const std::vector<InputFile>& inputs, const std::vector<fs::path>& config_files) const {
  if (!fs::is_directory(folder_)) return;
  if (const auto name = foreign_entry(folder_, {names_.begin(), names_.end()})) {
    throw Error(fmt::format("data.dir {}: holds {}, which nmt-prepro did not make; set another data.dir, or move it",
                            config_.data.dir, *name));
  }
  refuse_lost_inputs(inputs, config_files);
  if (!changes_.empty()) log_.info("{} is made again: {}", config_.data.dir, fmt::join(changes_, "; "));
  // A folder is put in its place with its manifest: what stands there without one may be anybody's, whatever its names.
  if (overwrite_ == Overwrite::kReplace || fs::exists(folder_ / kManifestFile)) return;
  if (const auto first = fs::directory_iterator(folder_); first != fs::directory_iterator()) {
    throw Error(
        fmt::format("data.dir {}: holds {} but no {}, so nmt-prepro may not have made it; move it away, set another "
                    "data.dir, or replace it with --overwrite",
                    config_.data.dir, first->path().filename().string(), kManifestFile));
  }
}

std::vector<std::string> DataFolder::own_files() const {
  if (overwrite_ == Overwrite::kRefuse) return {};
  return {names_.begin(), names_.end()};
}

void DataFolder::refuse_lost_inputs(const std::vector<InputFile>& inputs,
                                    const std::vector<fs::path>& config_files) const {
  std::vector<UserFile> files{{"model.word_vectors1", config_.model.word_vectors1},
                              {"model.word_vectors2", config_.model.word_vectors2},
                              {"training.init_from", config_.training.init_from}};
  for (const auto& path : config_files) files.push_back({"--config", path});
  for (const auto& input : inputs)
    if (!is_written_again(input)) files.push_back({input.option, input.path});
  for (const auto& [option, path] : files) {
    if (path.empty() || !lies_in(path, folder_)) continue;
    throw Error(
        fmt::format("{} {}: lies in data.dir {}, which is replaced as a whole; move the file out of it, or set "
                    "another data.dir",
                    option, path.string(), config_.data.dir));
  }
}

/// A ready model or vocabulary that keeps its place and its bytes.
bool DataFolder::is_written_again(const InputFile& input) const {
  std::error_code none;
  const auto is_file = [&](const std::string& name) { return fs::equivalent(input.path, folder_ / name, none); };
  if (input.option == "data.spm_model1" || input.option == "data.vocabulary1")
    return is_file(vocabulary_files_.front());
  if (input.option == "data.spm_model2" || input.option == "data.vocabulary2") return is_file(vocabulary_files_.back());
  return false;
}

}  // namespace nmt
