#include "text/sentencepiece/subword_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/unicode.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt {
namespace {

std::vector<int64_t> lengths_of(const std::vector<Piece>& pieces) {
  std::vector<int64_t> lengths;
  for (const auto& piece : pieces) lengths.push_back(std::ssize(piece.text));
  return lengths;
}

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
    : SubwordSampler(lengths_of(pieces)), p_(p), characters_(pieces.size()), begins_word_(pieces.size()) {
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

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Pieces by their beginnings, byte by byte.
class PieceTrie {
 public:
  void add(std::string_view text, int32_t id) {
    int32_t node = 0;
    for (const char byte : text) {
      const auto [found, is_new] = children_.emplace(key(node, byte), std::ssize(ids_));
      if (is_new) ids_.push_back(-1);
      node = found->second;
    }
    ids_[node] = id;
  }

  /// Calls take(id, end) for each piece that stands at text[begin, end), the shortest first.
  template <typename Take>
  void for_each_at(std::string_view text, size_t begin, Take&& take) const {
    int32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto found = children_.find(key(node, text[at]));
      if (found == children_.end()) return;
      node = found->second;
      if (ids_[node] >= 0) take(ids_[node], at + 1);
    }
  }

 private:
  static uint64_t key(int32_t node, char byte) {
    return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
  }
  std::unordered_map<uint64_t, int32_t> children_;
  std::vector<int32_t> ids_{-1};
};

/// A piece that ends somewhere in the text.
struct Edge {
  int32_t id;
  size_t begin;
};
using Lattice = std::vector<std::vector<Edge>>;  // [end in bytes]

class UnigramSampler final : public SubwordSampler {
 public:
  UnigramSampler(const std::vector<Piece>& pieces, double alpha, int64_t nbest)
      : SubwordSampler(lengths_of(pieces)), alpha_(alpha), nbest_(nbest) {
    for (size_t id = 0; id < pieces.size(); ++id) {
      const bool can_be_cut = pieces[id].type == PieceType::kNormal;
      texts_.push_back(can_be_cut ? pieces[id].text : "");
      scores_.push_back(pieces[id].score);
      if (can_be_cut) trie_.add(pieces[id].text, static_cast<int32_t>(id));
    }
  }

  std::vector<int32_t> sample(std::span<const int32_t> plain, CounterRandom& random) const override {
    std::vector<int32_t> sampled;
    std::string text;
    const auto end_stretch = [&] {
      if (text.empty()) return;
      const auto cut = nbest_ > 0 ? sample_of_best(lattice_of(text), random) : sample_of_all(lattice_of(text), random);
      sampled.insert(sampled.end(), cut.rbegin(), cut.rend());
      text.clear();
    };
    for (const int32_t id : plain) {
      if (texts_[id].empty()) {
        end_stretch();
        sampled.push_back(id);
      } else {
        text += texts_[id];
      }
    }
    end_stretch();
    return sampled;
  }

 private:
  Lattice lattice_of(const std::string& text) const {
    Lattice lattice(text.size() + 1);
    for (size_t begin = 0; begin < text.size(); ++begin) {
      if (begin > 0 && lattice[begin].empty()) continue;  // within a character, or where no piece ends
      trie_.for_each_at(text, begin, [&](int32_t id, size_t end) { lattice[end].push_back({id, begin}); });
    }
    return lattice;
  }

  // Both return the pieces from the last to the first.
  std::vector<int32_t> sample_of_all(const Lattice& lattice, CounterRandom& random) const;
  std::vector<int32_t> sample_of_best(const Lattice& lattice, CounterRandom& random) const;

  double alpha_;
  int64_t nbest_;
  std::vector<std::string> texts_;  // empty: never taken apart
  std::vector<double> scores_;
  PieceTrie trie_;
};

std::vector<int32_t> UnigramSampler::sample_of_all(const Lattice& lattice, CounterRandom& random) const {
  const auto end = lattice.size() - 1;
  std::vector<double> log_sum(lattice.size(), kImpossible);  // over all ways to a position of exp(alpha * score)
  log_sum[0] = 0;
  for (size_t at = 1; at <= end; ++at) {
    double top = kImpossible, sum = 0;
    for (const auto& edge : lattice[at]) top = std::max(top, log_sum[edge.begin] + alpha_ * scores_[edge.id]);
    for (const auto& edge : lattice[at]) sum += std::exp(log_sum[edge.begin] + alpha_ * scores_[edge.id] - top);
    if (!lattice[at].empty()) log_sum[at] = top + std::log(sum);
  }
  std::vector<int32_t> pieces;
  for (size_t at = end; at > 0;) {
    double left = random.uniform();
    const Edge* chosen = &lattice[at].back();  // where rounding leaves a rest
    for (const auto& edge : lattice[at]) {
      left -= std::exp(log_sum[edge.begin] + alpha_ * scores_[edge.id] - log_sum[at]);
      if (left >= 0) continue;
      chosen = &edge;
      break;
    }
    pieces.push_back(chosen->id);
    at = chosen->begin;
  }
  return pieces;
}

std::vector<int32_t> UnigramSampler::sample_of_best(const Lattice& lattice, CounterRandom& random) const {
  struct Path {
    double score;
    Edge last;
    size_t rank;  // of the path that it continues, among those at last.begin
  };
  std::vector<std::vector<Path>> best(lattice.size());  // the nbest best paths to each position, best first
  best[0].push_back({0, {-1, 0}, 0});
  for (size_t at = 1; at < lattice.size(); ++at) {
    for (const auto& edge : lattice[at])
      for (size_t rank = 0; rank < best[edge.begin].size(); ++rank)
        best[at].push_back({best[edge.begin][rank].score + scores_[edge.id], edge, rank});
    std::stable_sort(best[at].begin(), best[at].end(), [](const Path& a, const Path& b) { return a.score > b.score; });
    if (std::ssize(best[at]) > nbest_) best[at].erase(best[at].begin() + nbest_, best[at].end());
  }
  const auto& paths = best.back();
  double sum = 0;
  for (const auto& path : paths) sum += std::exp(alpha_ * (path.score - paths[0].score));
  double left = random.uniform() * sum;
  size_t rank = 0;
  while (rank + 1 < paths.size() && (left -= std::exp(alpha_ * (paths[rank].score - paths[0].score))) >= 0) ++rank;
  std::vector<int32_t> pieces;
  for (size_t at = lattice.size() - 1; at > 0;) {
    const Path& path = best[at][rank];
    pieces.push_back(path.last.id);
    rank = path.rank;
    at = path.last.begin;
  }
  return pieces;
}

}  // namespace

std::unique_ptr<SubwordSampler> make_unigram_sampler(const Tokenizer& tokenizer, double alpha, int64_t nbest) {
  const auto* model = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer);
  if (!model || read_sentencepiece_settings(model->serialized()).is_bpe)
    throw Error("training.unigram_alpha: the tokenizer is no unigram model of SentencePiece");
  return std::make_unique<UnigramSampler>(read_pieces(model->serialized(), "the SentencePiece model"), alpha, nbest);
}

}  // namespace nmt
