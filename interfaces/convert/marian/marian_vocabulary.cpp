#include "convert/marian/marian_vocabulary.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "convert/formats/sentencepiece_model.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert {
namespace {

constexpr size_t kLongestToken = 1000;     // bytes
constexpr size_t kLongestFile = 64 << 20;  // bytes

/// A key of YAML as text: plain, or in quotes.
std::optional<std::string> unquoted(std::string_view key) {
  if (key.empty() || key.size() > kLongestToken) return std::nullopt;
  if (key.front() != '"' && key.front() != '\'') return std::string(key);
  try {
    const auto node = key.back() == key.front() ? YAML::Load(std::string(key)) : YAML::Node();
    return node.IsScalar() ? std::optional(node.Scalar()) : std::nullopt;
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
}

std::optional<int64_t> number_of_text(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

// Marian writes an entry a line, "token: id", or on two lines, "? token" and ": id". A reader of all of YAML would take
// ~ for nothing, and hundreds of bytes of memory for a byte of a file that is made for it.
std::vector<std::pair<std::string, int64_t>> parse_yaml_vocabulary(const std::string& text, const std::string& name) {
  std::vector<std::pair<std::string, int64_t>> entries;
  std::string_view long_token;
  bool is_long = false;  // the token stood on the line before
  int64_t number = 0;
  for (size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || line == "---") continue;
    if (!is_long && line.starts_with("? ")) {
      long_token = line.substr(2);
      is_long = true;
      continue;
    }
    const auto damaged = [&] { return Error(fmt::format("{}:{}: damaged: not a token and its id", name, number)); };
    const auto colon = line.rfind(':');
    if (colon == line.npos || (colon == 0) != is_long) throw damaged();
    const auto token = unquoted(is_long ? long_token : line.substr(0, colon));
    const auto id = number_of_text(line.substr(colon + 1));
    if (!token || !id) throw damaged();
    entries.emplace_back(*token, *id);
    is_long = false;
  }
  if (is_long || entries.empty()) throw Error(name + ": damaged: not a map of tokens and ids");
  return entries;
}

// Entries are taken as they come: a tree of 65,000 of them would be many times as large as the file.
std::vector<std::pair<std::string, int64_t>> parse_json_vocabulary(const std::string& text, const std::string& name) {
  using Event = nlohmann::json::parse_event_t;
  const auto damaged = [&] { return Error(name + ": damaged: not a JSON object of tokens and ids"); };
  std::vector<std::pair<std::string, int64_t>> entries;
  std::string token;
  const auto take = [&](int depth, Event event, nlohmann::json& part) {
    if (event == Event::key) {
      token = part.get<std::string>();
    } else if (const auto id = event == Event::value && depth == 1 ? whole_number(part) : std::nullopt) {
      entries.emplace_back(std::move(token), *id);
    } else if (event == Event::value || event == Event::array_start || (event == Event::object_start && depth > 0)) {
      throw damaged();
    }
    return event == Event::object_start || event == Event::object_end;
  };
  try {
    if (!nlohmann::json::parse(text, take).is_object()) throw damaged();
  } catch (const nlohmann::json::exception&) {
    throw damaged();
  }
  return entries;
}

bool is_language_code(const std::string& token) { return token.starts_with(">>") && token.ends_with("<<"); }

std::map<std::string, int64_t> read_vocabulary(const std::filesystem::path& path, int64_t rows) {
  const auto form = path.extension();
  if (form != ".json" && form != ".yml" && form != ".yaml")
    throw Error(path.string() + ": only vocabularies in .json, .yml and .yaml can be read");
  const auto text = read_regular_file(path, kLongestFile);
  std::map<std::string, int64_t> ids;
  std::set<int64_t> taken;
  for (const auto& [token, id] :
       form == ".json" ? parse_json_vocabulary(text, path.string()) : parse_yaml_vocabulary(text, path.string())) {
    if (id < 0 || id >= rows)
      throw Error(fmt::format("{}: id {} of '{}' is beyond the {} rows of the model", path.string(), id, token, rows));
    if (!taken.insert(id).second) throw Error(fmt::format("{}: id {} stands twice", path.string(), id));
    if (!ids.emplace(token, id).second) throw Error(fmt::format("{}: '{}' stands twice", path.string(), token));
  }
  return ids;
}

namespace {

constexpr float kNeverScore = -100;  // of pieces that no text is cut into
constexpr const char* kSpecialNames[] = {"<pad>", "<unk>", "<s>", "</s>"};

bool is_special(const std::string& piece) {
  return std::find(std::begin(kSpecialNames), std::end(kSpecialNames), piece) != std::end(kSpecialNames);
}

struct SideModel {
  std::string bytes, name;
  std::vector<Piece> pieces;
  std::map<std::string, Piece> by_text;
  bool is_bpe = false, has_typed_codes = true;
};

SideModel load_side(const MarianSide& side) {
  SideModel model{.bytes = read_regular_file(side.model, kLargestSentencePieceModel),
                  .name = side.model.string(),
                  .pieces = {},
                  .by_text = {}};
  model.pieces = read_pieces(model.bytes, model.name);
  for (const auto& piece : model.pieces) model.by_text[piece.text] = piece;
  model.is_bpe = read_sentencepiece_settings(model.bytes).is_bpe;
  model.has_typed_codes = side.has_typed_codes;
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
    if (is_language_code(tokens[id]) && !model.has_typed_codes) {
      piece = {.text = tokens[id], .score = 0, .type = PieceType::kControl};
    } else if (is_language_code(tokens[id])) {
      // Cut off before SentencePiece in Marian, whether or not the model has a piece for it. SentencePiece puts its
      // mark of a space before the first word: the code and it become one piece. Scores of unigram models are
      // logarithms of probabilities, so 0 wins over every other way to cut it.
      piece = {.text = "\xE2\x96\x81" + tokens[id],
               .score = 0,
               .type = model.is_bpe ? PieceType::kUserDefined : PieceType::kNormal};
    } else if (const auto found = model.by_text.find(tokens[id]);
               found != model.by_text.end() && !is_special(tokens[id])) {
      piece = found->second;
    } else if (model.is_bpe && model.has_typed_codes && !tokens[id].empty() && !is_special(tokens[id])) {
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
                {specials.start, specials.start >= 0 && specials.start != specials.end},  // else it is put out as </s>
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
