#include "translation/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "search/logits_rules.h"

namespace nmt {
namespace {

/// SentencePiece's pieces of byte fallback: <0x00> to <0xFF>.
bool is_byte(const std::string& piece) { return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>'; }

}  // namespace

Shortlist::Shortlist(std::shared_ptr<const Lexicon> lexicon, const TextCodec& codec, int64_t per_piece,
                     int64_t frequent)
    : lexicon_(std::move(lexicon)), per_piece_(per_piece), joint_(codec.joint()) {
  if (per_piece > lexicon_->max())
    throw Error(
        fmt::format("decoding.shortlist {}: the model's lexicon holds {} candidates of a source piece; use so "
                    "many, or make it anew with a higher data.shortlist",
                    per_piece, lexicon_->max()));
  always_ = {SpecialIds::kPad, SpecialIds::kUnknown, SpecialIds::kBegin, SpecialIds::kEnd};
  const auto most_frequent = lexicon_->frequent();
  const auto count = std::min(frequent, std::ssize(most_frequent));
  always_.insert(always_.end(), most_frequent.begin(), most_frequent.begin() + count);
  for (int32_t id = 0; id < codec.target().size(); ++id)
    if (is_byte(codec.target().piece(id))) always_.push_back(id);
  make_distinct(always_);
}

std::vector<int32_t> Shortlist::candidates(std::span<const int32_t> source) const {
  auto ids = always_;
  for (const int32_t piece : source) {
    const auto best = lexicon_->best(piece);
    ids.insert(ids.end(), best.begin(), best.begin() + std::min(per_piece_, std::ssize(best)));
    if (joint_) ids.push_back(piece);
  }
  make_distinct(ids);
  return ids;
}

}  // namespace nmt
