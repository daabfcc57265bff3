#include "config/rules/data_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

namespace nmt {
namespace {

class DataRules : public RuleChecker {
 public:
  explicit DataRules(const RuleChecker& checker) : RuleChecker(checker) {}
  void check_texts() const;
  void check_cleaning() const;
  void check_vocabulary() const;
  void check_naming() const;

 private:
  void check_words() const;
  void check_ready_models() const;
};

void DataRules::check_texts() const {
  const DataConfig& data = config_.data;
  if (data.train1.size() != data.train2.size()) {
    refuse({"data.train1", "data.train2"},
           fmt::format("has {} files, data.train2 {}; each source file needs its target file (one that holds "
                       "both sides stands in both)",
                       data.train1.size(), data.train2.size()));
  }
  if (const auto& columns = data.tsv_columns; !columns.empty() && (columns.size() != 2 || columns[0] == columns[1]))
    refuse({"data.tsv_columns"}, "names two different columns, of the source and the target: [2, 4]");
  if (data.eval1.empty() != data.eval2.empty()) {
    if (data.eval2.empty()) refuse({"data.eval1"}, "is set without data.eval2, its reference");
    refuse({"data.eval2"}, "is set without data.eval1, its source");
  }
  if (data.test1.empty() != data.test2.empty()) {
    if (data.test2.empty()) refuse({"data.test1"}, "is set without data.test2, its reference");
    refuse({"data.test2"}, "is set without data.test1, its source");
  }
  if (!data.eval.empty() && !data.eval1.empty())
    refuse({"data.eval", "data.eval1"},
           "stands beside data.eval1 and eval2; write that set into the list, or leave one out");
  if (!data.test.empty() && !data.test1.empty())
    refuse({"data.test", "data.test1"},
           "stands beside data.test1 and test2; write that set into the list, or leave one out");
}

void DataRules::check_cleaning() const {
  const DataConfig& data = config_.data;
  if (data.drop_test_overlap && data.eval1.empty() && data.test1.empty() && data.eval.empty() && data.test.empty()) {
    refuse({"data.drop_test_overlap"},
           "has nothing to compare with: set data.eval1 and eval2, or data.test1 and test2");
  }
  if (data.max_length_ratio > 0 && data.max_length_ratio < 1) {
    refuse({"data.max_length_ratio"}, "is the longer side over the shorter: at least 1, or 0 for no limit");
  }
}

void DataRules::check_vocabulary() const {
  const DataConfig& data = config_.data;
  std::set<std::string> symbols;
  for (const auto& symbol : data.user_symbols) {
    if (std::ranges::find(kSpecialPieces, symbol) != kSpecialPieces.end())
      refuse({"data.user_symbols"}, fmt::format("{} is in every vocabulary", symbol));
    if (!symbols.insert(symbol).second) refuse({"data.user_symbols"}, fmt::format("'{}' stands twice", symbol));
  }
  if (data.tokenizer == TokenizerKind::kWords) return check_words();
  refuse_changed({"data.min_cnt", "data.word_ties", "data.vocabulary1", "data.vocabulary2", "data.count_markup"},
                 "is for word vocabularies; set data.tokenizer words");
  const bool is_learnt = data.spm_model1.empty() && data.spm_model2.empty();
  const int64_t fixed_pieces = fixed_piece_count(std::ssize(symbols), data.byte_fallback);
  if (is_learnt && data.vocab_size <= fixed_pieces) {
    refuse({"data.vocab_size", "data.byte_fallback", "data.user_symbols"},
           fmt::format("{} leaves no room for pieces beside the {} fixed ones (special, data.user_symbols, "
                       "data.byte_fallback's bytes)",
                       data.vocab_size, fixed_pieces));
  }
  if (!is_learnt) check_ready_models();
}

void DataRules::check_words() const {
  const DataConfig& data = config_.data;
  refuse_changed({"data.spm_type", "data.spm_model1", "data.spm_model2", "data.spm_sentences",
                  "data.character_coverage", "data.byte_fallback", "data.user_symbols", "data.normalization"},
                 "is SentencePiece's; data.tokenizer is words");
  if (data.joint_vocabulary && !data.vocabulary2.empty()) {
    refuse({"data.vocabulary2"},
           "does not go with data.joint_vocabulary; a joint vocabulary is data.vocabulary1 alone");
  }
  if (!data.joint_vocabulary && data.vocabulary1.empty() != data.vocabulary2.empty()) {
    refuse({data.vocabulary1.empty() ? "data.vocabulary2" : "data.vocabulary1"},
           "two vocabularies need both data.vocabulary1 and data.vocabulary2, or neither");
  }
}

void DataRules::check_ready_models() const {
  const DataConfig& data = config_.data;
  if (data.joint_vocabulary && !data.spm_model2.empty()) {
    refuse({"data.spm_model2"}, "does not go with data.joint_vocabulary; a joint model is data.spm_model1 alone");
  }
  if (!data.joint_vocabulary && data.spm_model1.empty() != data.spm_model2.empty()) {
    refuse({data.spm_model1.empty() ? "data.spm_model2" : "data.spm_model1"},
           "two vocabularies need both data.spm_model1 and data.spm_model2, or neither");
  }
  if (!data.user_symbols.empty()) {
    refuse({"data.user_symbols"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
  if (data.byte_fallback) {
    refuse({"data.byte_fallback"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
}

// His program has pieces, and one vocabulary of them.
void DataRules::check_naming() const {
  const DataConfig& data = config_.data;
  if (data.naming == DataNaming::kPlain) return;
  if (data.tokenizer == TokenizerKind::kSentencePiece && data.joint_vocabulary) return;
  refuse({"data.naming", "data.tokenizer", "data.joint_vocabulary"},
         "kyubyong2019 writes files of one SentencePiece vocabulary: data.tokenizer sentencepiece, "
         "data.joint_vocabulary true; or set data.naming plain");
}

}  // namespace

int64_t fixed_piece_count(int64_t user_symbols, bool byte_fallback) {
  return std::ssize(kSpecialPieces) + user_symbols + (byte_fallback ? 256 : 0);
}

void check_data_rules(const RuleChecker& checker) {
  const DataRules rules(checker);
  rules.check_texts();
  rules.check_cleaning();
  rules.check_vocabulary();
  rules.check_naming();
}

}  // namespace nmt
