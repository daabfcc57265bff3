#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

/// Bytes of a model that is read; those of a million pieces are some 20 MB.
constexpr size_t kLargestSentencePieceModel = 256 << 20;

/// Whether the tables of characters in a SentencePiece model file keep to themselves. SentencePiece walks them (double
/// arrays of Darts-clone) without looking where a step leads: in a file that is made for it, out of memory. Takes time
/// proportional to the tables.
bool has_sound_character_maps(std::string_view serialized);

}  // namespace nmt

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace nmt {

/// Loads a model from the bytes of its file, which may be a stranger's: false for what is no model, or one that was
/// made to lead SentencePiece out of memory.
bool load_sentencepiece(sentencepiece::SentencePieceProcessor& processor, std::string_view serialized);

/// What a piece of a SentencePiece model is (sentencepiece_model.proto).
enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

/// The pieces of a model file in the order of their ids. Throws Error ("NAME: ...") for what is no such file.
std::vector<Piece> read_pieces(std::string_view serialized, const std::string& name);

/// What a SentencePiece model file says of how it cuts text; SentencePiece itself does not tell.
struct SentencePieceSettings {
  bool is_bpe = false;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool treat_whitespace_as_suffix = false;
};

/// From the bytes of a model file (a protocol buffer, sentencepiece_model.proto). What it does not say, or what cannot
/// be read, has its default.
SentencePieceSettings read_sentencepiece_settings(std::string_view serialized);

/// A SentencePiece model (Kudo and Richardson 2018) whose ids of <pad>, <unk>, <s> and </s> are those of SpecialIds.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// From the bytes of a model file; `name` is shown in messages. Throws Error ("NAME: ...") for what is no
  /// SentencePiece model or has other special ids.
  SentencePieceTokenizer(std::string serialized, const std::string& name);
  ~SentencePieceTokenizer() override;

  static std::shared_ptr<const SentencePieceTokenizer> load(const std::filesystem::path& path);

  int64_t size() const override;
  /// Remembers the ids of words where words_are_independent().
  std::vector<int32_t> encode(std::string_view text) const override;
  /// The pieces as SentencePiece itself writes them: what is unknown stands as its text.
  std::vector<std::string> encode_as_pieces(std::string_view text) const;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  /// True if a line's ids are those of its words (what stands between spaces, U+0020) one after the other,
  /// for lines without U+2581.
  bool words_are_independent() const { return words_are_independent_; }

  /// The model file's bytes, as they were given.
  const std::string& serialized() const { return serialized_; }

 private:
  struct Processor;
  std::string serialized_;
  std::unique_ptr<Processor> processor_;
  bool words_are_independent_ = false;
};

}  // namespace nmt
