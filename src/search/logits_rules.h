#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "search/search_options.h"
#include "search/step.h"
#include "text/tokenizer.h"

namespace nmt {

/// Ascending, each once. tokens: ids.
void make_distinct(std::vector<int32_t>& tokens);

/// The logits of a step, float32 [rows, columns], wherever they are. A place is row * columns + column.
class Logits {
 public:
  virtual ~Logits() = default;
  virtual int64_t columns() const = 0;
  virtual std::vector<float> at(std::span<const int64_t> places) const = 0;
  virtual void set(std::span<const int64_t> places, std::span<const float> values) = 0;
  /// Divides positive logits by the penalty and multiplies negative ones; on a device without waiting for it.
  virtual void penalize(std::span<const int64_t> places, float penalty);
};

/// The logits of a step, for rules to change.
class RowLogits {
 public:
  /// columns: the token of each column, ascending (a shortlist), or none: column i is token i. Borrows all.
  RowLogits(Logits& logits, std::span<const RowRules> rows, std::span<const int32_t> columns = {})
      : logits_(logits), rows_(rows), columns_(columns) {}

  std::span<const RowRules> rows() const { return rows_; }
  /// Whether the token has a logit: a shortlist leaves tokens out.
  bool has(int32_t token) const;

  struct Place {
    int64_t row = 0;
    int32_t token = 0;
  };
  /// Replaces the logits at these places, each named once: change() gets all of them, [n].
  void update(std::span<const Place> places, const std::function<void(std::span<float>)>& change);
  void penalize(std::span<const Place> places, float penalty);  ///< Logits::penalize

 private:
  std::vector<int64_t> flat(std::span<const Place> places) const;
  int64_t column(int32_t token) const;

  Logits& logits_;
  std::span<const RowRules> rows_;
  std::span<const int32_t> columns_;
};

/// Something that a translation must, should or must not do, said token by token: bans, penalties, forced tokens. A
/// search asks all its rules before each step and knows none of them. A rule has no state: what it says is a function
/// of its options, the sentence and the tokens so far, so it is the same for every batch, and one object serves all
/// sentences.
class LogitsRule {
 public:
  virtual ~LogitsRule() = default;

  /// False: it says nothing about translations of this sentence. A search without any rule to ask is faster.
  virtual bool concerns(const SearchInput& /*input*/) const { return true; }
  /// The tokens that every translation of the sentence begins with, as judge() says one by one. Several of them are fed
  /// to the model at once, and the length limit leaves space for them.
  virtual std::span<const int32_t> beginning(const SearchInput& /*input*/) const { return {}; }
  /// Adds to banned or wanted what it says about the token after row.tokens. What is banned keeps its share of the
  /// probability.
  virtual void judge(RowRules& /*row*/) const {}
  /// Changes the logits before they become probabilities.
  virtual void change(RowLogits& /*logits*/) const {}
  /// With several models change() gets the logits of each; false: the log-probabilities of all together.
  virtual bool changes_each_model() const { return false; }
};

/// No translation holds a sequence of SearchOptions::banned, nor one of its sentence's SearchInput::banned: the last
/// token is banned where the others stand at the end of the hypothesis.
class BannedSequences final : public LogitsRule {
 public:
  using Sequences = std::vector<std::vector<int32_t>>;

  explicit BannedSequences(Sequences everywhere) : everywhere_(std::move(everywhere)) {}
  bool concerns(const SearchInput& input) const override { return !everywhere_.empty() || !input.banned.empty(); }
  void judge(RowRules& row) const override {
    ban_ends(everywhere_, row);
    ban_ends(row.input->banned, row);
  }

 private:
  static void ban_ends(const Sequences& sequences, RowRules& row) {
    const std::span tokens(row.tokens);
    for (const auto& sequence : sequences) {
      const auto others = std::span(sequence).first(sequence.size() - 1);
      if (tokens.size() >= others.size() && std::ranges::equal(tokens.last(others.size()), others))
        row.banned.push_back(sequence.back());
    }
  }

  Sequences everywhere_;
};

/// The translation begins with SearchInput::prefix, whose tokens are taken as they are. Where </s> is the last of them,
/// the prefix is the whole translation.
class ForcedPrefix final : public LogitsRule {
 public:
  bool concerns(const SearchInput& input) const override { return !input.prefix.empty(); }
  std::span<const int32_t> beginning(const SearchInput& input) const override { return input.prefix; }
  void judge(RowRules& row) const override {
    const auto& prefix = row.input->prefix;
    if (row.tokens.size() >= prefix.size()) return;
    row.wanted = {prefix[row.tokens.size()]};
    row.only_wanted = true;
  }
};

/// The first token of SearchInput::prefix is given, not chosen: its probability is 1. By it the decoder is told
/// something, such as the target language.
class GivenFirstToken final : public LogitsRule {
 public:
  explicit GivenFirstToken(int32_t token) : token_(token) {}
  void change(RowLogits& logits) const override {
    std::vector<RowLogits::Place> places;
    for (int64_t row = 0; row < std::ssize(logits.rows()); ++row)
      if (logits.rows()[row].tokens.empty()) places.push_back({row, token_});
    logits.update(places, [](std::span<float> values) { std::ranges::fill(values, kCertain); });
  }

 private:
  static constexpr float kCertain = 1e9F;  // as a logit
  int32_t token_;
};

/// No </s> before SearchOptions::min_length tokens.
class MinLength final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.min_length > 0 ? std::make_shared<MinLength>(options.min_length) : nullptr;
  }
  explicit MinLength(int64_t tokens) : tokens_(tokens) {}
  void judge(RowRules& row) const override {
    if (std::ssize(row.tokens) < tokens_) row.banned.push_back(SpecialIds::kEnd);
  }

 private:
  int64_t tokens_;
};

/// No n-gram of SearchOptions::no_repeat_ngram_size tokens comes twice, nor one of SearchInput::no_repeat_ngram_size.
class NoRepeatedNgrams final : public LogitsRule {
 public:
  explicit NoRepeatedNgrams(int64_t size) : size_(size) {}
  bool concerns(const SearchInput& input) const override { return size_ > 0 || input.no_repeat_ngram_size > 0; }
  void judge(RowRules& row) const override {
    ban_repeated(size_, row);
    ban_repeated(row.input->no_repeat_ngram_size, row);
  }

 private:
  static void ban_repeated(int64_t ngram, RowRules& row) {
    const std::span<const int32_t> tokens(row.tokens);
    const auto size = static_cast<size_t>(ngram);
    if (size == 0 || tokens.size() < size) return;
    const auto last = tokens.last(size - 1);
    for (size_t start = 0; start + size <= tokens.size(); ++start)
      if (std::ranges::equal(tokens.subspan(start, size - 1), last)) row.banned.push_back(tokens[start + size - 1]);
  }

  int64_t size_;
};

/// <unk> is never written (SearchOptions::ban_unknown).
class NoUnknown final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.ban_unknown ? std::make_shared<NoUnknown>() : nullptr;
  }
  void judge(RowRules& row) const override { row.banned.push_back(SpecialIds::kUnknown); }
};

/// Keskar et al. 2019, sec. 4.1: of the tokens that a hypothesis has, positive logits are divided by
/// SearchOptions::repetition_penalty, negative ones multiplied.
class RepetitionPenalty final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.repetition_penalty != 1 ? std::make_shared<RepetitionPenalty>(options.repetition_penalty) : nullptr;
  }
  explicit RepetitionPenalty(double penalty) : penalty_(penalty) {}
  /// Log-probabilities have no positive values, and dividing is what counts.
  bool changes_each_model() const override { return true; }
  void change(RowLogits& logits) const override {
    std::vector<RowLogits::Place> seen;
    for (int64_t row = 0; row < std::ssize(logits.rows()); ++row) {
      auto tokens = logits.rows()[row].tokens;
      make_distinct(tokens);
      for (const int32_t token : tokens)
        if (logits.has(token)) seen.push_back({row, token});
    }
    logits.penalize(seen, static_cast<float>(penalty_));
  }

 private:
  double penalty_;
};

/// The rules of a search.
class LogitsRules {
 public:
  /// The rules that the options ask for, then SearchOptions::rules.
  explicit LogitsRules(const SearchOptions& options);

  /// Whether any rule has something to say about translations of this sentence.
  bool concern(const SearchInput& input) const;
  /// The longest that a rule forces.
  std::span<const int32_t> beginning(const SearchInput& input) const;
  /// Fills what the rules say about the token after row.tokens.
  void judge(RowRules& row) const;
  /// Whose logits they are: those of the only model, of each one in an ensemble, or what these are together.
  enum class Of { kModel, kMember, kEnsemble };
  /// Changes the logits of a step; the other arguments are those of RowLogits.
  void change(Logits& logits, Of of, std::span<const RowRules> rows, std::span<const int32_t> columns = {}) const;

 private:
  std::vector<std::shared_ptr<const LogitsRule>> rules_;
};

}  // namespace nmt
