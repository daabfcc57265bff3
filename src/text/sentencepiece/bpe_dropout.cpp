#include "text/sentencepiece/bpe_dropout.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/code_points.h"
#include "base/error.h"
#include "text/sentencepiece/sentencepiece_pieces.h"
#include "text/sentencepiece/sentencepiece_settings.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt {
namespace {

class BpeDropout final : public SubwordSampler {
 public:
  BpeDropout(const std::vector<Piece>& pieces, bool words_are_independent, double p);
  std::vector<int32_t> sample(std::span<const int32_t> plain, CounterRandom& random) const override;

 private:
  struct Merge {
    int32_t id = -1;  // of the piece it makes; -1: there is none
    float score = 0;
  };
  /// A piece in the making and what it may become together with its right neighbour.
  struct Symbol {
    int32_t id;
    Merge with_next;
  };

  static uint64_t pair_key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  Merge merge_of(int32_t left, int32_t right) const {
    const auto found = merges_.find(pair_key(left, right));
    return found == merges_.end() ? Merge{} : found->second;
  }
  void put_together(std::vector<Symbol>& word, CounterRandom& random) const;

  double p_;
  std::vector<std::vector<int32_t>> characters_;  // of each piece; empty: it is never taken apart
  std::vector<bool> begins_word_;
  std::unordered_map<uint64_t, Merge> merges_;
};

BpeDropout::BpeDropout(const std::vector<Piece>& pieces, bool words_are_independent, double p)
    : p_(p), characters_(pieces.size()), begins_word_(pieces.size()) {
  std::unordered_map<std::string_view, int32_t> ids;
  for (size_t id = 0; id < pieces.size(); ++id)
    if (pieces[id].type == PieceType::kNormal) ids.emplace(pieces[id].text, static_cast<int32_t>(id));
  for (const auto& [text, id] : ids) {
    begins_word_[id] = words_are_independent && text.starts_with(kSpaceMark);
    auto& characters = characters_[id];
    for (size_t at = 0, end = 0; at < text.size(); at = end) {
      end = at + code_point_at(text, at).length;
      const auto found = ids.find(text.substr(at, end - at));
      if (found == ids.end()) {
        characters.clear();
        break;
      }
      characters.push_back(found->second);
    }
    for (size_t at = code_point_at(text, 0).length; at < text.size(); at += code_point_at(text, at).length) {
      const auto left = ids.find(text.substr(0, at)), right = ids.find(text.substr(at));
      if (left != ids.end() && right != ids.end())
        merges_[pair_key(left->second, right->second)] = {.id = id, .score = pieces[id].score};
    }
  }
}

void BpeDropout::put_together(std::vector<Symbol>& word, CounterRandom& random) const {
  const auto look_right = [&](size_t i) {
    word[i].with_next = i + 1 < word.size() ? merge_of(word[i].id, word[i + 1].id) : Merge{};
  };
  for (size_t i = 0; i < word.size(); ++i) look_right(i);
  for (;;) {
    size_t best = word.size();
    for (size_t i = 0; i + 1 < word.size(); ++i) {
      if (word[i].with_next.id < 0 || random.uniform() < p_) continue;
      if (best == word.size() || word[i].with_next.score > word[best].with_next.score) best = i;
    }
    if (best == word.size()) return;
    word[best].id = word[best].with_next.id;
    word.erase(word.begin() + static_cast<int64_t>(best) + 1);
    look_right(best);
    if (best > 0) look_right(best - 1);
  }
}

std::vector<int32_t> BpeDropout::sample(std::span<const int32_t> plain, CounterRandom& random) const {
  std::vector<int32_t> sampled;
  std::vector<Symbol> word;
  const auto end_word = [&] {
    put_together(word, random);
    for (const auto& symbol : word) sampled.push_back(symbol.id);
    word.clear();
  };
  for (const int32_t id : plain) {
    if (characters_[id].empty() || begins_word_[id]) end_word();
    if (characters_[id].empty()) {
      sampled.push_back(id);
      continue;
    }
    for (const int32_t character : characters_[id]) word.push_back({character, {}});
  }
  end_word();
  return sampled;
}

}  // namespace

std::unique_ptr<SubwordSampler> make_bpe_dropout(const Tokenizer& tokenizer, double p) {
  const auto* model = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer);
  if (!model || !read_sentencepiece_settings(model->serialized()).is_bpe)
    throw Error("training.bpe_dropout: the tokenizer is no BPE model of SentencePiece");
  return std::make_unique<BpeDropout>(read_pieces(model->serialized(), "the SentencePiece model"),
                                      model->words_are_independent(), p);
}

}  // namespace nmt
