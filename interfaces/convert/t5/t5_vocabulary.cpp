#include "convert/t5/t5_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/sentencepiece_model.h"

namespace nmt::convert {
namespace {

constexpr int64_t kExtraIds = 100;  // sentinels of T5's training, behind the pieces, the last one first

std::string text_of_row(const std::vector<Piece>& pieces, int64_t row) {
  const int64_t behind = row - std::ssize(pieces);
  if (behind < 0) return pieces[row].text;
  return behind < kExtraIds ? fmt::format("<extra_id_{}>", kExtraIds - 1 - behind) : fmt::format("<row{}>", row);
}

int64_t unknown_of(const std::vector<Piece>& pieces, const std::string& name) {
  const auto unknown = std::ranges::find(pieces, PieceType::kUnknown, &Piece::type);
  if (unknown == pieces.end()) throw Error(name + ": has no piece for what is unknown");
  return unknown - pieces.begin();
}

}  // namespace

T5Vocabulary read_t5_vocabulary(const std::filesystem::path& path, int64_t rows, const T5Specials& specials) {
  const std::string bytes = read_file(path), name = path.string();
  const auto pieces = read_pieces(bytes, name);
  if (std::ssize(pieces) > rows)
    throw Error(
        fmt::format("{}: has {} pieces, and the model's table {} rows (vocab_size)", name, pieces.size(), rows));
  const int64_t unknown = unknown_of(pieces, name);
  for (const int64_t id : {specials.pad, specials.start, specials.end})
    if (id >= rows) throw Error(fmt::format("{}: special token {} is beyond the {} rows of the model", name, id, rows));
  if (std::set{unknown, specials.start, specials.end}.size() < 3)
    throw Error(fmt::format("{}: <unk>, the start of the decoder and </s> are the tokens {}, {} and {}, not three",
                            name, unknown, specials.start, specials.end));
  const bool has_pad = specials.pad != unknown && specials.pad != specials.start && specials.pad != specials.end;

  T5Vocabulary vocabulary{.order = {has_pad ? specials.pad : -1, unknown, specials.start, specials.end}, .model = {}};
  std::vector<Piece> ours{{.text = "<pad>", .type = PieceType::kControl},
                          {.text = "<unk>", .type = PieceType::kUnknown},
                          {.text = "<s>", .type = PieceType::kControl},
                          {.text = "</s>", .type = PieceType::kControl}};
  std::set<std::string> taken;
  for (const auto& piece : ours) taken.insert(piece.text);
  for (int64_t row = 0; row < rows; ++row) {
    if (std::ranges::find(vocabulary.order.begin(), vocabulary.order.begin() + 4, row) != vocabulary.order.begin() + 4)
      continue;
    const bool is_piece = row < std::ssize(pieces) && pieces[row].type != PieceType::kUnknown;
    Piece piece = is_piece ? pieces[row] : Piece{.text = text_of_row(pieces, row), .type = PieceType::kControl};
    if (piece.text.empty() || !taken.insert(piece.text).second) {
      piece = {.text = fmt::format("<row{}>", row), .type = PieceType::kControl};
      taken.insert(piece.text);
    }
    ours.push_back(std::move(piece));
    vocabulary.order.push_back(row);
  }
  vocabulary.model = with_pieces(bytes, ours);
  return vocabulary;
}

}  // namespace nmt::convert
