#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/rules/rule_checker.h"

namespace nmt {

/// Pieces of every vocabulary.
inline constexpr std::array<std::string_view, 4> kSpecialPieces = {"<pad>", "<unk>", "<s>", "</s>"};
/// Pieces that SentencePiece does not learn: these, so many user_symbols, and the bytes of byte_fallback.
int64_t fixed_piece_count(int64_t user_symbols, bool byte_fallback);

/// Whether training.init_from brings the vocabulary.
inline bool has_initial_vocabulary(const TrainingConfig& training) {
  return !training.init_from.empty() && training.init_vocabulary == InitVocabulary::kSame;
}

/// Contradictions that begin in the section data: texts, cleaning, vocabularies. Throws Error.
void check_data_rules(const RuleChecker& rules);

/// Contradictions that begin in the section model. Throws Error.
void check_model_rules(const RuleChecker& rules);

}  // namespace nmt
