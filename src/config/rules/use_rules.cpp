#include "config/rules/use_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace nmt {
namespace {

class UseRules : public RuleChecker {
 public:
  explicit UseRules(const RuleChecker& checker) : RuleChecker(checker) {}
  void check_validation() const;
  void check_decoding() const;
  void check_evaluation() const;
};

void UseRules::check_validation() const {
  const ValidationConfig& validation = config_.validation;
  const auto metrics = validation.metrics.chosen_names();
  for (auto metric = metrics.begin(); metric != metrics.end(); ++metric) {
    if (std::find(metrics.begin(), metric, *metric) != metric) {
      refuse({"validation.metrics"}, fmt::format("{} stands twice", *metric));
    }
  }
  if (metrics.empty()) {
    refuse({"validation.metrics"}, "is empty; name loss, bleu or chrf (without data.eval1 and eval2 none is measured)");
  }
  if (!validation.metrics.contains(validation.best_metric)) {
    refuse({"validation.best_metric", "validation.metrics"},
           fmt::format("{} is not in validation.metrics", validation.best_metric.name()));
  }
  if (has_validation_text()) return;
  if (validation.every > 0) {
    refuse({"validation.every"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
  if (validation.patience > 0) {
    refuse({"validation.patience"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
}

void UseRules::check_decoding() const {
  const DecodingConfig& decoding = config_.decoding;
  if (decoding.max_length_ratio == 0 && decoding.max_length_offset == 0) {
    refuse({"decoding.max_length_offset", "decoding.max_length_ratio"},
           "0, with max_length_ratio 0, leaves no room for a translation");
  }
  if (decoding.max_length > 0 && decoding.min_length >= decoding.max_length) {
    refuse({"decoding.min_length", "decoding.max_length"},
           fmt::format("{} leaves no room for the end symbol within decoding.max_length {}", decoding.min_length,
                       decoding.max_length));
  }
  if (decoding.beam_size % decoding.diversity_groups != 0) {
    refuse({"decoding.diversity_groups", "decoding.beam_size"},
           fmt::format("{} does not divide decoding.beam_size {}", decoding.diversity_groups, decoding.beam_size));
  }
  if (decoding.diversity_groups == 1) {
    refuse_changed({"decoding.diversity_strength"}, "is for diverse beam search; set decoding.diversity_groups");
  }
  if (decoding.shortlist == 0) {
    refuse_changed({"decoding.shortlist_frequent"}, "is for decoding.shortlist, which is 0");
  }
  if (!decoding.sampling) {
    return refuse_changed({"decoding.temperature", "decoding.top_k", "decoding.top_p", "decoding.seed"},
                          "is for sampling; set decoding.sampling true");
  }
  if (decoding.beam_size != 1) {
    refuse({"decoding.sampling", "decoding.beam_size"},
           fmt::format("draws its tokens and has no beam; decoding.beam_size is {}, set it to 1", decoding.beam_size));
  }
  if (decoding.coverage_penalty > 0) {
    refuse({"decoding.coverage_penalty", "decoding.sampling"},
           "ranks hypotheses, but samples come as they are drawn; leave one of them out");
  }
}

void UseRules::check_evaluation() const {
  const auto forms = config_.evaluation.tokenized_bleu.chosen_names();
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    if (std::find(forms.begin(), form, *form) != form)
      refuse({"evaluation.tokenized_bleu"}, fmt::format("{} stands twice", *form));
  }
  const std::string& language = config_.data.target_language;
  const auto& values = config_.evaluation.tokenized_bleu.values();
  const bool moses = std::any_of(values.begin(), values.end(), takes_moses_tokens);
  if (moses && language != "de" && language != "en" && language != "fr") {
    refuse({"evaluation.tokenized_bleu", "data.target_language"},
           fmt::format("the Moses tokenizer here knows de, en and fr; data.target_language is {}", language));
  }
}

}  // namespace

void check_use_rules(const RuleChecker& checker) {
  const UseRules rules(checker);
  rules.check_validation();
  rules.check_decoding();
  rules.check_evaluation();
}

}  // namespace nmt
