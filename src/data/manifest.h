#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "config/config.h"
#include "text/corpus/cleaning.h"

namespace nmt {

/// A file that the prepared data was made of.
struct InputFile {
  std::string option;  ///< "data.train1"
  std::string path;
  int64_t size = 0;
  int64_t modified = 0;  ///< nanoseconds since 1970
  std::string sha256;    ///< empty where it was not computed
};

/// One of {train,valid,valid.NAME,test,test.NAME}.bin.
struct SplitRecord {
  std::string name = {};  ///< "train"
  int64_t pairs = 0, source_pieces = 0, target_pieces = 0;
  int64_t source_unknown = 0, target_unknown = 0;  ///< <unk> pieces
  std::string sha256 = {};
};

/// prepared/manifest.json: what the data was made of and how, written last.
struct Manifest {
  std::map<std::string, std::string> options;  ///< the data section: names and values as YAML
  uint64_t seed = 1;
  bool sampled = false;      ///< SentencePiece saw a sample of the lines, which depends on the seed
  nlohmann::json tokenizer;  ///< of TextCodec
  std::vector<InputFile> inputs;
  std::vector<SplitRecord> splits;
  std::vector<CleaningRow> cleaning;
  std::vector<std::string> other_files = {};  ///< of a PrepareObserver, as "prepro/train.de"
  std::string lexicon = {};                   ///< SHA-256 of shortlist.bin; empty: none was made
  std::string alignment = {};                 ///< SHA-256 of alignment.bin; empty: none was made
  /// The SyntheticText of each training file that a model wrote, with its name as "file".
  nlohmann::json synthetic = nlohmann::json::array();

  void write(const std::filesystem::path& directory) const;
  /// Throws Error: missing ("DIR: no prepared data; run nmt-prepro -c CONFIG"), foreign, damaged, or of another
  /// version.
  static Manifest read(const std::filesystem::path& directory);

  const SplitRecord* find_split(const std::string& name) const;
  /// The hash of what the data is: tokenizer and splits. Equal data has equal hashes, wherever and whenever it was
  /// made.
  std::string hash() const;
};

constexpr const char* kManifestFile = "manifest.json";

/// The data section of the effective configuration: names and values as YAML.
std::map<std::string, std::string> data_options(const Config& config);

/// The options that differ and matter to what is in the folder: "data.vocab_size: 8000 -> 4000".
std::vector<std::string> data_differences(const Manifest& manifest, const Config& config);

/// Throws Error ("DIR/manifest.json: damaged; ...") where the manifest in `directory`, of options that do not differ,
/// lacks a split or a row of the cleaning table that `config` asks for.
void require_complete(const Manifest& manifest, const Config& config, const std::filesystem::path& directory);

/// The error about a manifest that cannot be as nmt-prepro wrote it.
Error damaged_manifest(const std::filesystem::path& directory);

}  // namespace nmt
