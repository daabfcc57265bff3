#include "data/prepared_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files/file.h"
#include "config/config.h"
#include "config/loading/model_description.h"
#include "data/manifest.h"

namespace nmt {

TextCodec load_codec(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / kManifestFile))
    return TextCodec::load(directory, Manifest::read(directory).tokenizer);
  if (!std::filesystem::exists(directory / "model.json"))
    throw Error(fmt::format("{}: neither prepared data (data.dir of a configuration) nor a model directory",
                            directory.string()));
  return TextCodec::load(directory, read_model_description(directory).tokenizer);
}

namespace {

std::shared_ptr<const PreparedCorpus> open_split(const Manifest& manifest, const std::filesystem::path& directory,
                                                 const std::string& name, const TextCodec& codec) {
  const SplitRecord* split = manifest.find_split(name);
  if (!split) return nullptr;
  const auto path = directory / (name + ".bin");
  auto corpus = std::make_shared<const PreparedCorpus>(path, codec.options().source_form());
  if (corpus->size() != split->pairs) {
    throw Error(fmt::format("{}: {} pairs, the manifest names {}; run nmt-prepro again with --overwrite", path.string(),
                            corpus->size(), split->pairs));
  }
  corpus->verify(split->sha256, codec.source().size(), codec.target().size());
  return corpus;
}

std::shared_ptr<const Lexicon> open_lexicon(const Manifest& manifest, const std::filesystem::path& directory) {
  if (manifest.lexicon.empty()) return nullptr;
  return std::make_shared<const Lexicon>(Lexicon::read(directory / kLexiconFile));
}

}  // namespace

PreparedData open_prepared_data(const Config& config) {
  const std::filesystem::path directory = config.data.dir;
  const Manifest manifest = Manifest::read(directory);
  if (const auto differences = data_differences(manifest, config); !differences.empty()) {
    throw Error(
        fmt::format("data.dir {}: made with other options ({}); run nmt-prepro with --overwrite, or set another "
                    "data.dir",
                    directory.string(), fmt::join(differences, ", ")));
  }
  require_complete(manifest, config, directory);
  TextCodec codec = TextCodec::load(directory, manifest.tokenizer);
  const auto open = [&](const std::string& name) { return open_split(manifest, directory, name, codec); };
  auto train = open("train");
  const auto others = [&](const std::vector<ConfiguredSet>& sets) {
    std::vector<NamedCorpus> corpora;
    for (size_t i = 1; i < sets.size(); ++i) corpora.push_back({sets[i].text.name, open(sets[i].split)});
    return corpora;
  };
  std::shared_ptr<const PieceLinks> alignment;
  if (!manifest.alignment.empty())
    alignment = std::make_shared<const PieceLinks>(directory / kPieceLinksFile, manifest.alignment, *train);
  auto selection = select_pairs(config, manifest);
  const auto hash = selection.hash.empty() ? manifest.hash() : sha256_of_bytes(manifest.hash() + selection.hash);
  return {.train = std::move(train),
          .valid = open("valid"),
          .test = open("test"),
          .more_valid = others(validation_sets(config.data)),
          .more_test = others(test_sets(config.data)),
          .codec = std::move(codec),
          .lexicon = open_lexicon(manifest, directory),
          .alignment = std::move(alignment),
          .selection = std::move(selection),
          .hash = hash};
}

}  // namespace nmt
