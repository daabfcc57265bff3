#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "data/manifest.h"
#include "text/codec/codec.h"

namespace nmt {

enum class Overwrite { kRefuse, kReplace };

/// What stands in data.dir before a run, and whether the run may replace it.
class DataFolder {
 public:
  /// vocabulary_files: names of the files that the run will write its tokenizers to: one if joint, else the source's
  /// and the target's. other_files: of PrepareObserver. config and log must outlive it.
  DataFolder(const Config& config, Overwrite overwrite, std::vector<std::string> vocabulary_files,
             std::set<std::string> other_files, Logger& log);

  /// The manifest of a folder that holds exactly this data already; nullopt: it is to be made. Fills in checksums of
  /// inputs that have the size and time of the manifest, or that had to be computed. Throws Error for other or damaged
  /// data that Overwrite::kReplace does not replace. codec: that the data are to be in; null: one that is learnt.
  std::optional<Manifest> find_data(std::vector<InputFile>& inputs, const TextCodec* codec = nullptr);

  /// Call after find_data(). Throws Error where something would be lost: what nmt-prepro did not make, or an input or
  /// one of config_files in the folder, in any case; files under its names without a manifest, unless they are to be
  /// replaced. Logs why data that are there are made again.
  void refuse_losses(const std::vector<InputFile>& inputs,
                     const std::vector<std::filesystem::path>& config_files) const;

  /// The files there that the run may delete, for OutputFolder: none, where nothing is to be replaced.
  std::vector<std::string> own_files() const;

 private:
  std::vector<std::string> changes_since(const Manifest& manifest, std::vector<InputFile>& inputs,
                                         const TextCodec* codec) const;
  void refuse_lost_inputs(const std::vector<InputFile>& inputs,
                          const std::vector<std::filesystem::path>& config_files) const;
  bool is_written_again(const InputFile& input) const;

  const Config& config_;
  const Overwrite overwrite_;
  Logger& log_;
  std::filesystem::path folder_;
  std::vector<std::string> vocabulary_files_;
  std::vector<std::string> changes_;  // why the data that are there are made again
  /// What may be replaced; find_data() adds what the manifest there names.
  std::set<std::string> names_{"manifest.json",    "spm.model",        "source.spm",   "target.spm", "joint.vocab.tsv",
                               "source.vocab.tsv", "target.vocab.tsv", "train.bin",    "valid.bin",  "test.bin",
                               "spm.vocab",        "source.vocab",     "target.vocab", "joint.vocab"};
};

}  // namespace nmt
