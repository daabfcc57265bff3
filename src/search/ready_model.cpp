#include "search/ready_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/loading/model_description.h"
#include "text/tokenizer.h"

namespace fs = std::filesystem;

namespace nmt {

ModelFiles read_model_files(const fs::path& directory) {
  auto description = read_model_description(directory);
  ModelFiles files{.config = std::move(description.config),
                   .codec = TextCodec::load(directory, description.tokenizer),
                   .summary = std::move(description.summary),
                   .parameters = description.parameters,
                   .directory = directory,
                   .stored = description.weights};
  const auto check = [&](const char* key, int64_t described, int64_t found) {
    if (described == found) return;
    throw Error(fmt::format("{}: '{}' is {}, but the tokenizer has {} pieces: not of one model; copy it again",
                            (directory / "model.json").string(), key, described, found));
  };
  check("source_vocabulary", description.source_vocabulary, files.codec.source().size());
  check("target_vocabulary", description.target_vocabulary, files.codec.target().size());
  return files;
}

std::shared_ptr<const Lexicon> read_lexicon(const fs::path& directory, const TextCodec& codec) {
  const auto path = directory / kLexiconFile;
  if (!fs::exists(path))
    throw Error(
        fmt::format("{}: the model has no lexicon for decoding.shortlist ({} is missing): set data.shortlist "
                    "50, run nmt-prepro --overwrite and copy {} from data.dir, or leave out --shortlist",
                    directory.string(), kLexiconFile, kLexiconFile));
  auto lexicon = std::make_shared<const Lexicon>(Lexicon::read(path));
  if (lexicon->source_vocabulary() != codec.source().size() || lexicon->target_vocabulary() != codec.target().size() ||
      lexicon->vocabularies() != vocabularies_of(codec))
    throw Error(fmt::format("{}: of other vocabularies than the model's; copy the one of its own prepared data",
                            path.string()));
  return lexicon;
}

void require_one_target(std::span<const ReadyModel> models) {
  const auto& first = models.front();
  for (const auto& other : models.subspan(1)) {
    const Tokenizer &a = first.codec.target(), &b = other.codec.target();
    const auto refuse = [&](const std::string& difference) {
      throw Error(
          fmt::format("{} and {}: an ensemble needs one target vocabulary, but {}; take models trained on the "
                      "same prepared data",
                      first.directory.string(), other.directory.string(), difference));
    };
    if (a.size() != b.size()) refuse(fmt::format("they have {} and {} pieces", a.size(), b.size()));
    for (int32_t id = 0; id < a.size(); ++id)
      if (a.piece(id) != b.piece(id)) refuse(fmt::format("piece {} is '{}' and '{}'", id, a.piece(id), b.piece(id)));
  }
}

}  // namespace nmt
