#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace nmt::test {

/// A vocabulary of pieces as SentencePiece's, U+2581 for a space: each place takes the longest piece that fits.
class LongestPieces final : public Tokenizer {
 public:
  explicit LongestPieces(const std::vector<std::string>& pieces) : pieces_{"<pad>", "<unk>", "<s>", "</s>"} {
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  }
  int64_t size() const override { return std::ssize(pieces_); }
  std::string piece(int32_t id) const override { return pieces_.at(static_cast<size_t>(id)); }
  std::string decode(std::span<const int32_t>) const override { return ""; }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::string marked(kSpaceMark);
    for (const char c : text) marked += c == ' ' ? std::string(kSpaceMark) : std::string(1, c);
    std::vector<int32_t> ids;
    for (std::string_view rest = marked; !rest.empty();) {
      int32_t best = SpecialIds::kUnknown;
      size_t length = rest.starts_with(kSpaceMark) ? kSpaceMark.size() : 1;
      for (int32_t id = SpecialIds::kEnd + 1; id < size(); ++id)
        if (rest.starts_with(piece(id)) && (best == SpecialIds::kUnknown || piece(id).size() > length))
          best = id, length = piece(id).size();
      ids.push_back(best);
      rest.remove_prefix(length);
    }
    return ids;
  }

 private:
  std::vector<std::string> pieces_;
};

}  // namespace nmt::test
