#include "text/sentencepiece/sentencepiece_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/protocol_buffer.h"
#include "text/sentencepiece/word_encoder.h"

namespace nmt {
namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kNormalizerField = 3, kDenormalizerField = 5;  // of the model
constexpr uint64_t kCharacterMap = 2;                             // of both

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// u32 bytes of the double array, its units of 32 bits, texts. From unit i a step leads to (i ^ offset) ^ c, c a byte:
// to anywhere in one block of 256 units. A unit with its highest bit set is a value, where no step begins, but for the
// first one, where every walk begins.
bool is_sound(std::string_view map) {
  constexpr uint32_t kIsValue = 1u << 31, kIsLarge = 1u << 9;
  if (map.empty()) return true;
  if (map.size() < sizeof(uint32_t)) return false;
  const uint32_t bytes = number_at(map, 0);
  map.remove_prefix(sizeof(uint32_t));
  if (bytes > map.size() || bytes % sizeof(uint32_t) != 0) return false;
  const uint32_t units = bytes / sizeof(uint32_t);
  for (uint32_t i = 0; i < units; ++i) {
    const uint32_t unit = number_at(map, i * sizeof(uint32_t));
    if (i > 0 && (unit & kIsValue) != 0) continue;
    const uint32_t offset = (unit >> 10) << ((unit & kIsLarge) >> 6);
    if (((i ^ offset) | 0xFF) >= units) return false;
  }
  return true;
}

}  // namespace

// What is read otherwise here than by SentencePiece could hide a table: only what both read to the end is sound.
bool has_sound_character_maps(std::string_view serialized) {
  constexpr uint64_t kMaxId = (1 << 29) - 1;
  bool sound = true;
  const auto of_normalizer = [&](const ProtocolField& field) {
    sound = sound && field.id <= kMaxId && (field.id != kCharacterMap || is_sound(field.bytes));
  };
  const bool ends = for_each_field(serialized, [&](const ProtocolField& field) {
    sound = sound && field.id <= kMaxId;
    if (field.id == kNormalizerField || field.id == kDenormalizerField)
      sound = for_each_field(field.bytes, of_normalizer) && sound;
  });
  return ends && sound;
}

bool load_sentencepiece(sentencepiece::SentencePieceProcessor& processor, std::string_view serialized) {
  if (serialized.empty() || !has_sound_character_maps(serialized)) return false;
  try {
    return processor.LoadFromSerializedProto(serialized).ok();
  } catch (const std::exception&) {  // its trie does not return a status: a piece with a zero byte, for one
    return false;
  }
}

namespace {

constexpr uint64_t kPieces = 1;                       // of the model: sentencepiece_model.proto
constexpr uint64_t kText = 1, kScore = 2, kType = 3;  // of a piece

}  // namespace

std::vector<Piece> read_pieces(std::string_view serialized, const std::string& name) {
  std::vector<Piece> pieces;
  const bool complete = for_each_field(serialized, [&](const ProtocolField& field) {
    if (field.id != kPieces) return;
    Piece piece;
    for_each_field(field.bytes, [&](const ProtocolField& part) {
      if (part.id == kText) piece.text = part.bytes;
      if (part.id == kScore && part.bytes.size() == sizeof piece.score)
        std::memcpy(&piece.score, part.bytes.data(), sizeof piece.score);
      if (part.id == kType) piece.type = static_cast<PieceType>(part.number);
    });
    pieces.push_back(std::move(piece));
  });
  if (!complete || pieces.empty()) throw Error(name + ": not a SentencePiece model, or damaged; fetch it again");
  return pieces;
}

namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kTrainerSpec = 2, kNormalizerSpec = 3;                                     // of the model
constexpr uint64_t kModelType = 3, kTreatWhitespaceAsSuffix = 24;                             // of the trainer
constexpr uint64_t kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4, kEscapeWhitespaces = 5;  // of the normaliser
constexpr uint64_t kBpe = 2;                                                                  // of the model types

}  // namespace

SentencePieceSettings read_sentencepiece_settings(std::string_view serialized) {
  SentencePieceSettings settings;
  const auto of_trainer = [&](const ProtocolField& field) {
    if (field.id == kModelType) settings.is_bpe = field.number == kBpe;
    if (field.id == kTreatWhitespaceAsSuffix) settings.treat_whitespace_as_suffix = field.number != 0;
  };
  const auto of_normalizer = [&](const ProtocolField& field) {
    if (field.id == kAddDummyPrefix) settings.add_dummy_prefix = field.number != 0;
    if (field.id == kRemoveExtraWhitespaces) settings.remove_extra_whitespaces = field.number != 0;
    if (field.id == kEscapeWhitespaces) settings.escape_whitespaces = field.number != 0;
  };
  for_each_field(serialized, [&](const ProtocolField& field) {
    if (field.id == kTrainerSpec) for_each_field(field.bytes, of_trainer);
    if (field.id == kNormalizerSpec) for_each_field(field.bytes, of_normalizer);
  });
  return settings;
}

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

  std::mutex mutex;                                    // of what follows
  std::vector<std::unique_ptr<WordEncoder>> encoders;  // that no thread uses
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
  return std::make_shared<const SentencePieceTokenizer>(read_regular_file(path, kLargestSentencePieceModel),
                                                        path.string());
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
  // SentencePiece's mark of a space, written in a text, is no space to its rules, but one to its pieces.
  if (!words_are_independent_ || text.find(kSpaceMark) != std::string_view::npos) return processor_->encode<int>(text);
  std::unique_ptr<WordEncoder> encoder;
  {
    const std::lock_guard lock(processor_->mutex);
    if (!processor_->encoders.empty()) {
      encoder = std::move(processor_->encoders.back());
      processor_->encoders.pop_back();
    }
  }
  if (!encoder) encoder = std::make_unique<WordEncoder>();
  auto ids = encoder->encode(text, [&](std::string_view word) { return processor_->encode<int>(word); });
  const std::lock_guard lock(processor_->mutex);
  processor_->encoders.push_back(std::move(encoder));
  return ids;
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
