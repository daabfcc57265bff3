#pragma once

#include <cstdint>
#include <span>

#include "search/rules/row_logits.h"
#include "search/rules/row_rules.h"

namespace nmt {

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
  /// to the model at once, and the length limit leaves room for them.
  virtual std::span<const int32_t> beginning(const SearchInput& /*input*/) const { return {}; }
  /// Adds to banned or wanted what it says about the token after row.tokens. What is banned keeps its share of the
  /// probability.
  virtual void judge(RowRules& /*row*/) const {}
  /// Changes the logits before they become probabilities.
  virtual void change(RowLogits& /*logits*/) const {}
  /// Of several models, change() gets the logits of each; false: the log-probabilities of all together.
  virtual bool changes_each_model() const { return false; }
};

}  // namespace nmt
