#include "text/codec/readable_vocabulary.h"

#include <fmt/format.h>

#include <iterator>

#include "text/sentencepiece/sentencepiece_pieces.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/words/word_tokenizer.h"

namespace nmt {

std::string readable_vocabulary(const Tokenizer& tokenizer) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (const auto* words = dynamic_cast<const WordTokenizer*>(&tokenizer)) {
    for (int32_t id = 0; id < words->size(); ++id) fmt::format_to(out, "{}\t{}\n", words->piece(id), words->count(id));
    return text;
  }
  if (const auto* pieces = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer)) {
    // Six significant digits, as a C++ stream prints them.
    for (const auto& piece : read_pieces(pieces->serialized(), "SentencePiece"))
      fmt::format_to(out, "{}\t{:g}\n", piece.text, static_cast<double>(piece.score));
    return text;
  }
  for (int32_t id = 0; id < tokenizer.size(); ++id) fmt::format_to(out, "{}\n", tokenizer.piece(id));
  return text;
}

std::string readable_name(const std::string& file) {
  std::string_view stem = file;
  for (const std::string_view ending : {".vocab.tsv", ".model", ".spm"})
    if (stem.ends_with(ending)) return fmt::format("{}.vocab", stem.substr(0, stem.size() - ending.size()));
  return file + ".vocab";
}

std::map<std::string, std::string> readable_vocabularies(const TextCodec& codec) {
  const auto names = codec.file_names();
  std::map<std::string, std::string> files;
  files[readable_name(names.front())] = readable_vocabulary(codec.source());
  if (!codec.joint()) files[readable_name(names.back())] = readable_vocabulary(codec.target());
  return files;
}

}  // namespace nmt
