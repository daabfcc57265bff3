#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

/// A SentencePiece model (Kudo and Richardson 2018) whose ids of <pad>, <unk>, <s> and </s> are those of SpecialIds.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// From the bytes of a model file; `name` is shown in messages. Throws Error ("NAME: ...") for what is no
  /// SentencePiece model or has other special ids.
  SentencePieceTokenizer(std::string serialized, const std::string& name);
  ~SentencePieceTokenizer() override;

  static std::shared_ptr<const SentencePieceTokenizer> load(const std::filesystem::path& path);

  int64_t size() const override;
  std::vector<int32_t> encode(std::string_view text) const override;
  /// The pieces as SentencePiece itself writes them: what is unknown stands as its text.
  std::vector<std::string> encode_as_pieces(std::string_view text) const;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  bool words_are_independent() const override { return words_are_independent_; }

  /// The model file's bytes, as they were given.
  const std::string& serialized() const { return serialized_; }

 private:
  struct Processor;
  std::string serialized_;
  std::unique_ptr<Processor> processor_;
  bool words_are_independent_ = false;
};

}  // namespace nmt
