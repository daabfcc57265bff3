#include "convert/marian/marian_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/sentencepiece_model.h"
#include "text/sentencepiece/sentencepiece_settings.h"

namespace nmt::convert {
namespace {

constexpr float kNeverScore = -100;  // of pieces that no text is cut into
constexpr const char* kSpecialNames[] = {"<pad>", "<unk>", "<s>", "</s>"};

bool is_special(const std::string& piece) {
  return std::find(std::begin(kSpecialNames), std::end(kSpecialNames), piece) != std::end(kSpecialNames);
}

bool is_language_code(const std::string& token) { return token.starts_with(">>") && token.ends_with("<<"); }

struct SideModel {
  std::string bytes, name;
  std::vector<Piece> pieces;
  std::map<std::string, Piece> by_text;
  bool is_bpe = false;
};

SideModel load_side(const MarianSide& side) {
  SideModel model{.bytes = read_file(side.model), .name = side.model.string(), .pieces = {}, .by_text = {}};
  model.pieces = read_pieces(model.bytes, model.name);
  for (const auto& piece : model.pieces) model.by_text[piece.text] = piece;
  model.is_bpe = read_sentencepiece_settings(model.bytes).is_bpe;
  return model;
}

/// Pieces of one side in the order of our ids. tokens: their texts, empty for rows without one.
std::vector<Piece> side_pieces(const SideModel& model, const std::vector<std::string>& tokens) {
  std::vector<Piece> pieces;
  std::set<std::string> taken;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (id < std::size(kSpecialNames)) {
      const auto type = id == 1 ? PieceType::kUnknown : PieceType::kControl;
      pieces.push_back({.text = kSpecialNames[id], .type = type});
      continue;
    }
    Piece piece{.text = tokens[id], .score = kNeverScore, .type = PieceType::kUnused};
    if (is_language_code(tokens[id])) {
      // Cut off before SentencePiece in Marian, whether or not the model has a piece for it. SentencePiece puts its
      // mark of a space before the first word: the code and it become one piece. Scores of unigram models are
      // logarithms of probabilities, so 0 wins over every other way to cut it.
      piece = {.text = "\xE2\x96\x81" + tokens[id],
               .score = 0,
               .type = model.is_bpe ? PieceType::kUserDefined : PieceType::kNormal};
    } else if (const auto found = model.by_text.find(tokens[id]);
               found != model.by_text.end() && !is_special(tokens[id])) {
      piece = found->second;
    } else if (model.is_bpe && !tokens[id].empty() && !is_special(tokens[id])) {
      throw Error(
          fmt::format("{}: a BPE model that lacks '{}' of the common vocabulary; only unigram models may lack "
                      "pieces",
                      model.name, tokens[id]));
    }
    if (piece.text.empty() || is_special(piece.text) || !taken.insert(piece.text).second) {
      piece = {.text = fmt::format("<row{}>", id), .score = kNeverScore, .type = PieceType::kUnused};
      taken.insert(piece.text);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

std::vector<int64_t> MarianVocabulary::order() const {
  std::vector<int64_t> all;
  for (const auto& row : rows) all.push_back(row.theirs);
  return all;
}

RenumberedSides renumber(const std::vector<MarianSide>& sides, int64_t rows, const MarianSpecials& specials) {
  for (const int64_t id :
       {specials.unknown, specials.end, std::max<int64_t>(specials.pad, 0), std::max<int64_t>(specials.start, 0)})
    if (id < 0 || id >= rows) throw Error(fmt::format("special token {} is beyond the {} rows of the model", id, rows));
  std::vector<std::string> theirs(rows);
  for (const auto& [token, id] : *sides.front().ids) theirs[id] = token;

  RenumberedSides result;
  auto& vocabulary = result.vocabulary.rows;
  std::vector<std::string> tokens(4);
  const bool starts_from_pad = specials.start == specials.pad;
  vocabulary = {starts_from_pad ? MarianVocabulary::Row{-1, false} : MarianVocabulary::Row{specials.pad},
                {specials.unknown},
                {specials.start, specials.start >= 0},
                {specials.end}};
  for (int64_t id = 0; id < rows; ++id) {
    if (id == specials.pad || id == specials.unknown || id == specials.start || id == specials.end) continue;
    vocabulary.push_back({id});
    tokens.push_back(theirs[id]);
  }
  std::vector<SideModel> models;
  for (const auto& side : sides) models.push_back(load_side(side));
  std::set<std::string> added;
  for (const auto& model : models)
    for (const auto& piece : model.pieces) {
      if (piece.type == PieceType::kUnknown || piece.type == PieceType::kControl || is_special(piece.text)) continue;
      if (sides.front().ids->contains(piece.text) || !added.insert(piece.text).second) continue;
      vocabulary.push_back({specials.unknown, false});
      tokens.push_back(piece.text);
    }
  for (const auto& model : models) result.models.push_back(with_pieces(model.bytes, side_pieces(model, tokens)));
  return result;
}

}  // namespace nmt::convert
