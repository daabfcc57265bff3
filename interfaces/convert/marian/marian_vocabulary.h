#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nmt::convert {

/// Tokens and their ids from a vocabulary of Marian in JSON or YAML (by the name's ending). Throws Error for what is
/// none, for a token or an id that stands twice, and for an id out of 0 .. rows-1.
std::map<std::string, int64_t> read_vocabulary(const std::filesystem::path& path, int64_t rows);

/// Whether a token is the code of a language, ">>cs<<", which Marian cuts off before SentencePiece.
bool is_language_code(const std::string& token);

/// The entries as they stand there; `name` is shown in messages. Throws Error for what is no map of tokens and ids.
std::vector<std::pair<std::string, int64_t>> parse_json_vocabulary(const std::string& text, const std::string& name);
std::vector<std::pair<std::string, int64_t>> parse_yaml_vocabulary(const std::string& text, const std::string& name);

/// The vocabularies of a MarianMT model as ours: <pad> <unk> <s> </s>, then the rest in Marian's order, then the pieces
/// of the SentencePiece models that Marian's vocabulary lacks and takes as unknown. Ours starts the decoder from <s>,
/// so <s> is the row of Marian's start token (its <pad> in OPUS-MT models, whose <pad> then is a row of zeros).
struct MarianVocabulary {
  struct Row {
    int64_t theirs = -1;   ///< row of Marian's table, -1: zeros
    bool possible = true;  ///< false: no token of Marian's output, never to be chosen
  };
  std::vector<Row> rows;  ///< by our id
  std::vector<int64_t> order() const;
};

/// Rows of Marian's table. -1 of pad or start: none, a vector of zeros that is never put out.
struct MarianSpecials {
  int64_t pad = 0, unknown = 0, start = 0, end = 0;
};

/// One table for both sides, or one for each (with one SentencePiece model each).
struct MarianSide {
  std::filesystem::path model;                  ///< SentencePiece model
  const std::map<std::string, int64_t>* ids{};  ///< its vocabulary
  /// Whether codes of languages stand in texts. Where not (M2M-100), no text is cut into them, nor into what else the
  /// SentencePiece model lacks.
  bool has_typed_codes = true;
};
struct RenumberedSides {
  MarianVocabulary vocabulary;
  std::vector<std::string> models;  ///< bytes of the SentencePiece models with our ids, in the order of the sides
};
/// `rows`: of the table. Throws Error for SentencePiece models that cannot be renumbered.
RenumberedSides renumber(const std::vector<MarianSide>& sides, int64_t rows, const MarianSpecials& specials);

}  // namespace nmt::convert
