#include "compat/prepared_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "data/preparation/input_files.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::compat {
namespace {

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

class SplitFiles final : public SplitObserver {
 public:
  SplitFiles(const std::pair<std::string, std::string>& ending, const TextCodec& codec, const std::string& split,
             const fs::path& folder)
      : codec_(codec),
        source_(folder / text_file(split, ending.first)),
        target_(folder / text_file(split, ending.second)),
        source_pieces_(folder / pieces_file(split, ending.first), codec.source()) {
    if (has_target_pieces(split)) target_pieces_.emplace(folder / pieces_file(split, ending.second), codec.target());
  }
  void on_pair(const EncodedPair& pair) override {
    source_.add(pair.text.source);
    target_.add(pair.text.target);
    source_pieces_.add(pair.text.source, pair.source);
    if (target_pieces_) target_pieces_->add(codec_.normalized(pair.text.target), pair.target);
  }
  void on_end() override {
    source_.commit();
    target_.commit();
    source_pieces_.commit();
    if (target_pieces_) target_pieces_->commit();
  }

 private:
  const TextCodec& codec_;
  TextFile source_, target_;
  PiecesFile source_pieces_;
  std::optional<PiecesFile> target_pieces_;
};

class PreparedFiles final : public PrepareObserver {
 public:
  explicit PreparedFiles(const DataConfig& data) : data_(data), endings_(endings(data)) {}

  std::set<std::string> files() const override {
    const auto& [source, target] = endings_;
    std::set<std::string> names{kBothSides};
    for (const auto& files : kVocabularyFiles) names.insert(files.second);
    for (const auto& split : list_splits(data_)) {
      names.insert({text_file(split.name, source), text_file(split.name, target), pieces_file(split.name, source)});
      if (has_target_pieces(split.name)) names.insert(pieces_file(split.name, target));
    }
    return names;
  }
  std::unique_ptr<SplitObserver> on_split(const std::string& split, const TextCodec& codec,
                                          const fs::path& folder) const override {
    return std::make_unique<SplitFiles>(endings_, codec, split, folder);
  }
  void on_end(const fs::path& folder) const override {
    AtomicFile both(folder / kBothSides);
    append_file(folder / text_file("train", endings_.first), both);
    both.write("\n");
    append_file(folder / text_file("train", endings_.second), both);
    both.commit();
    for (const auto& [ours, his] : kVocabularyFiles) {
      std::error_code no_links_there;
      fs::create_hard_link(folder / ours, folder / his, no_links_there);
      if (no_links_there) fs::copy_file(folder / ours, folder / his);
    }
  }

 private:
  const DataConfig& data_;
  const std::pair<std::string, std::string> endings_;
};

}  // namespace

std::unique_ptr<PrepareObserver> make_prepared_files(const DataConfig& data) {
  if (data.naming == DataNaming::kPlain) return nullptr;
  return std::make_unique<PreparedFiles>(data);
}

}  // namespace nmt::compat
