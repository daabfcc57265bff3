#include "text/sentencepiece/sentencepiece_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/file.h"
#include "text/sentencepiece/load_sentencepiece.h"
#include "text/sentencepiece/sentencepiece_settings.h"

namespace nmt {
namespace {

/// Stands for <unk> while SentencePiece joins the pieces. It takes strings that are no piece as they are, whereas its
/// own <unk> would come out as a surrounding of spaces. Made of noncharacters, which no text and so no piece holds.
constexpr std::string_view kUnknownMark = "\xEF\xB7\x90unk\xEF\xB7\x91";  // U+FDD0 unk U+FDD1

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool is_silent(int32_t id) { return id == SpecialIds::kPad || id == SpecialIds::kBegin || id == SpecialIds::kEnd; }

/// BPE merges within words where no piece reaches over a space; a word begins with the mark of a space, and spaces at
/// its ends and between are one. Not so unigram: its float scores are summed over the line, so equal ones may tie
/// otherwise.
bool encodes_words_independently(const sentencepiece::SentencePieceProcessor& model, std::string_view serialized) {
  const SentencePieceSettings settings = read_sentencepiece_settings(serialized);
  if (!settings.is_bpe || !settings.add_dummy_prefix || !settings.remove_extra_whitespaces ||
      !settings.escape_whitespaces || settings.treat_whitespace_as_suffix) {
    return false;
  }
  if (model.IsUnknown(model.PieceToId(kSpaceMark))) return false;  // unknown pieces next to each other become one
  for (int id = 0; id < model.GetPieceSize(); ++id) {
    const std::string_view piece = model.IdToPiece(id);
    if (piece.find(kSpaceMark, 1) != std::string_view::npos || piece.find(' ') != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

struct SentencePieceTokenizer::Processor {
  template <typename Piece>
  std::vector<Piece> encode(std::string_view text) const;
  sentencepiece::SentencePieceProcessor model;
};

SentencePieceTokenizer::SentencePieceTokenizer(std::string serialized, const std::string& name)
    : serialized_(std::move(serialized)), processor_(std::make_unique<Processor>()) {
  auto& model = processor_->model;
  if (!load_sentencepiece(model, serialized_) || model.GetPieceSize() < 4) {
    throw Error(name + ": not a SentencePiece model, or damaged; make it again");
  }
  if (model.pad_id() != SpecialIds::kPad || model.unk_id() != SpecialIds::kUnknown ||
      model.bos_id() != SpecialIds::kBegin || model.eos_id() != SpecialIds::kEnd) {
    throw Error(fmt::format(
        "{}: the ids of <pad>, <unk>, <s> and </s> are {}, {}, {} and {}; train it with --pad_id=0 --unk_id=1 "
        "--bos_id=2 --eos_id=3",
        name, model.pad_id(), model.unk_id(), model.bos_id(), model.eos_id()));
  }
  words_are_independent_ = encodes_words_independently(model, serialized_);
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

std::shared_ptr<const SentencePieceTokenizer> SentencePieceTokenizer::load(const std::filesystem::path& path) {
  return std::make_shared<const SentencePieceTokenizer>(read_file(path), path.string());
}

int64_t SentencePieceTokenizer::size() const { return processor_->model.GetPieceSize(); }

template <typename Piece>
std::vector<Piece> SentencePieceTokenizer::Processor::encode(std::string_view text) const {
  std::vector<Piece> pieces;
  const auto status = model.Encode(text, &pieces);
  if (!status.ok()) throw Error(fmt::format("SentencePiece cannot encode a line: {}", status.ToString()));
  return pieces;
}

std::vector<int32_t> SentencePieceTokenizer::encode(std::string_view text) const {
  return processor_->encode<int>(text);
}

std::vector<std::string> SentencePieceTokenizer::encode_as_pieces(std::string_view text) const {
  return processor_->encode<std::string>(text);
}

std::string SentencePieceTokenizer::decode(std::span<const int32_t> ids) const {
  const auto& model = processor_->model;
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  bool unknown = false;
  for (const int32_t id : ids) {
    if (is_silent(id)) continue;
    unknown |= id == SpecialIds::kUnknown;
    pieces.push_back(id == SpecialIds::kUnknown ? std::string(kUnknownMark) : piece(id));
  }
  std::string text;
  const auto status = model.Decode(pieces, &text);
  if (!status.ok()) throw Error(fmt::format("SentencePiece cannot decode a line: {}", status.ToString()));
  return unknown ? replace_all(std::move(text), kUnknownMark, piece(SpecialIds::kUnknown)) : text;
}

std::string SentencePieceTokenizer::piece(int32_t id) const {
  if (id < 0 || id >= size()) throw Error(fmt::format("piece {} of a vocabulary of {}", id, size()));
  return processor_->model.IdToPiece(id);
}

}  // namespace nmt
