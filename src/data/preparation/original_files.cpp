#include "data/preparation/original_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/mapped_file.h"
#include "data/preparation/splits.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

bool writes_files(const DataConfig& data) { return data.naming == DataNaming::kKyubyong2019; }

/// Two sides of one language would be one file.
std::pair<std::string, std::string> endings(const DataConfig& data) {
  if (data.source_language == data.target_language) return {"source", "target"};
  return {data.source_language, data.target_language};
}

/// valid is eval with him.
std::string stem_of(std::string_view split) {
  constexpr std::string_view kValid = "valid";
  return split.starts_with(kValid) ? fmt::format("eval{}", split.substr(kValid.size())) : std::string(split);
}

/// He translates a test set, and segments its source alone.
bool has_target_pieces(std::string_view split) { return !split.starts_with("test"); }

std::string text_file(const std::string& split, const std::string& ending) {
  return fmt::format("prepro/{}.{}", stem_of(split), ending);
}
std::string pieces_file(const std::string& split, const std::string& ending) {
  return fmt::format("segmented/{}.{}.bpe", stem_of(split), ending);
}
constexpr const char* kBothSides = "prepro/train";
constexpr std::pair<const char*, const char*> kVocabularyFiles[] = {{"spm.model", "segmented/bpe.model"},
                                                                    {"spm.vocab", "segmented/bpe.vocab"}};

fs::path with_folder(const fs::path& file) {
  fs::create_directories(file.parent_path());
  return file;
}

/// Lines with line ends between them: none follows the last.
class TextFile {
 public:
  explicit TextFile(const fs::path& path) : file_(with_folder(path)) {}
  void add(std::string_view line) {
    if (!std::exchange(is_empty_, false)) file_.write("\n");
    file_.write(line);
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  bool is_empty_ = true;
};

class PiecesFile {
 public:
  PiecesFile(const fs::path& path, const Tokenizer& tokenizer) : file_(with_folder(path)), tokenizer_(tokenizer) {}
  /// text: normalised; it is cut again where some of it is unknown.
  void add(const std::string& text, const std::vector<int32_t>& ids) {
    file_.write(fmt::format("{}\n", fmt::join(pieces(text, ids), " ")));
  }
  void commit() { file_.commit(); }

 private:
  std::vector<std::string> pieces(const std::string& text, const std::vector<int32_t>& ids) const {
    const auto* sentencepiece = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer_);
    if (sentencepiece && std::find(ids.begin(), ids.end(), SpecialIds::kUnknown) != ids.end())
      return sentencepiece->encode_as_pieces(text);
    std::vector<std::string> pieces;
    for (const int32_t id : ids) pieces.push_back(tokenizer_.piece(id));
    return pieces;
  }
  AtomicFile file_;
  const Tokenizer& tokenizer_;
};

void append_file(const fs::path& path, AtomicFile& file) {
  const MappedFile mapped(path);
  file.write({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
}

}  // namespace

struct OriginalFiles::Split {
  Split(const std::pair<std::string, std::string>& ending, const TextCodec& split_codec, const std::string& name,
        const fs::path& folder)
      : codec(split_codec),
        source(folder / text_file(name, ending.first)),
        target(folder / text_file(name, ending.second)),
        source_pieces(folder / pieces_file(name, ending.first), codec.source()) {
    if (has_target_pieces(name)) target_pieces.emplace(folder / pieces_file(name, ending.second), codec.target());
  }
  const TextCodec& codec;
  TextFile source, target;
  PiecesFile source_pieces;
  std::optional<PiecesFile> target_pieces;
};

OriginalFiles::OriginalFiles(const DataConfig& data, const TextCodec& codec, const std::string& split,
                             const fs::path& folder) {
  if (writes_files(data)) split_ = std::make_unique<Split>(endings(data), codec, split, folder);
}

OriginalFiles::~OriginalFiles() = default;

void OriginalFiles::add(const EncodedPair& pair) {
  if (!split_) return;
  split_->source.add(pair.text.source);
  split_->target.add(pair.text.target);
  split_->source_pieces.add(pair.text.source, pair.source);
  if (split_->target_pieces) split_->target_pieces->add(split_->codec.normalized(pair.text.target), pair.target);
}

void OriginalFiles::commit() {
  if (!split_) return;
  split_->source.commit();
  split_->target.commit();
  split_->source_pieces.commit();
  if (split_->target_pieces) split_->target_pieces->commit();
}

std::set<std::string> OriginalFiles::names(const DataConfig& data) {
  if (!writes_files(data)) return {};
  const auto [source, target] = endings(data);
  std::set<std::string> names{kBothSides};
  for (const auto& files : kVocabularyFiles) names.insert(files.second);
  for (const auto& split : list_splits(data)) {
    names.insert({text_file(split.name, source), text_file(split.name, target), pieces_file(split.name, source)});
    if (has_target_pieces(split.name)) names.insert(pieces_file(split.name, target));
  }
  return names;
}

void OriginalFiles::finish(const DataConfig& data, const fs::path& folder) {
  if (!writes_files(data)) return;
  const auto [source, target] = endings(data);
  AtomicFile both(folder / kBothSides);
  append_file(folder / text_file("train", source), both);
  both.write("\n");
  append_file(folder / text_file("train", target), both);
  both.commit();
  for (const auto& [ours, his] : kVocabularyFiles) {
    std::error_code no_links_there;
    fs::create_hard_link(folder / ours, folder / his, no_links_there);
    if (no_links_there) fs::copy_file(folder / ours, folder / his);
  }
}

}  // namespace nmt
