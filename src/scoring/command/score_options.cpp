#include "scoring/command/score_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/threads.h"
#include "scoring/command/argument_parser.h"
#include "scoring/command/command_error.h"
#include "scoring/command/score_arguments.h"
#include "scoring/metrics/original_bleu.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

// Beyond these, output and n-grams would fill the memory.
constexpr int kMaxWidth = 1000, kMaxChrfOrder = 1000;

/// Values of parsed options, converted.
class Values {
 public:
  explicit Values(const ParsedArguments& arguments) : arguments_(arguments) {}

  bool flag(const std::string& name) const { return arguments_.has(name); }

  std::optional<std::string> text(const std::string& name) const {
    const auto found = arguments_.options.find(name);
    if (found == arguments_.options.end()) return std::nullopt;
    return found->second.front();
  }

  template <typename Integer>
  void integer(const std::string& name, Integer& target) const {
    const auto given = text(name);
    if (!given) return;
    const auto value = parse_int(*given);
    constexpr auto kLimits = std::numeric_limits<Integer>();
    if (!value || *value < kLimits.min() || *value > kLimits.max()) {
      throw CommandError(kBadArguments, fmt::format("argument {}: invalid int value: '{}'", name, *given));
    }
    target = static_cast<Integer>(*value);
  }

  void integer_up_to(int max, const std::string& name, int& target) const {
    integer(name, target);
    if (target > max) throw CommandError(kBadArguments, fmt::format("argument {}: {}: at most {}", name, target, max));
  }

  std::optional<double> real(const std::string& name) const {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto value = parse_float(*given);
    if (!value) throw CommandError(kBadArguments, fmt::format("argument {}: invalid float value: '{}'", name, *given));
    return value;
  }

 private:
  const ParsedArguments& arguments_;
};

std::optional<TableStyle> style_named(const std::string& name) {
  if (name == "json") return TableStyle::kJson;
  if (name == "text") return TableStyle::kText;
  if (name == "latex") return TableStyle::kLatex;
  return std::nullopt;
}

BleuSmoothing smoothing_named(const std::string& name) {
  if (name == "none") return BleuSmoothing::kNone;
  if (name == "floor") return BleuSmoothing::kFloor;
  if (name == "add-k") return BleuSmoothing::kAddK;
  return BleuSmoothing::kExponential;
}

void read_metrics(const Values& values, ScoreOptions& options) {
  options.bleu.smoothing = smoothing_named(values.text("--smooth-method").value_or("exp"));
  options.bleu.smoothing_value = values.real("--smooth-value");
  if (const auto value = options.bleu.smoothing_value; value && !(std::abs(*value) <= kMaxSmoothing)) {
    throw CommandError(kBadArguments, fmt::format("argument --smooth-value: {}: a number of at most {}", repr(*value),
                                                  repr(kMaxSmoothing)));
  }
  options.bleu.lowercase = values.flag("--lowercase");
  options.bleu.sentencepiece_model = values.text("--spm-model").value_or("");
  options.tokenizer = values.text("--tokenize");
  options.force = values.flag("--force");
  values.integer_up_to(kMaxChrfOrder, "--chrf-char-order", options.chrf.char_order);
  values.integer_up_to(kMaxChrfOrder, "--chrf-word-order", options.chrf.word_order);
  values.integer("--chrf-beta", options.chrf.beta);
  options.chrf.whitespace = values.flag("--chrf-whitespace");
  options.chrf.lowercase = values.flag("--chrf-lowercase");
  options.chrf.eps_smoothing = values.flag("--chrf-eps-smoothing");
  options.ter.case_sensitive = values.flag("--ter-case-sensitive");
  options.ter.asian_support = values.flag("--ter-asian-support");
  options.ter.no_punctuation = values.flag("--ter-no-punct");
  options.ter.normalized = values.flag("--ter-normalized");
}

void read_tests(const Values& values, ScoreOptions& options) {
  options.confidence = values.flag("--confidence");
  values.integer("--confidence-n", options.confidence_samples);
  if (values.flag("--paired-bs")) options.paired = PairedTestKind::kBootstrap;
  if (values.flag("--paired-ar")) options.paired = PairedTestKind::kApproximateRandomization;
  values.integer("--paired-bs-n", options.bootstrap_samples);
  values.integer("--paired-ar-n", options.trials);
  int64_t processes = 1;  // of sacreBLEU; threads do that here
  values.integer("--paired-jobs", processes);
  values.integer("--threads", options.threads);
  try {
    check_threads("--threads", options.threads);
  } catch (const Error& error) {
    throw CommandError(kBadArguments, error.what());
  }
}

void read_report(const Values& values, ScoreOptions& options) {
  options.quiet = values.flag("--quiet");
  options.short_signature = values.flag("--short");
  options.score_only = values.flag("--score-only");
  options.detail = values.flag("--detail");
  options.no_color = values.flag("--no-color");
  values.integer_up_to(kMaxWidth, "--width", options.width);
  if (const auto name = values.text("--format")) options.style = *style_named(*name);
  if (const char* name = std::getenv("SACREBLEU_FORMAT")) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    options.style = style_named(lower).value_or(options.style);
  }
}

}  // namespace

ScoreOptions parse_score_options(const std::vector<std::string>& arguments) {
  ParsedArguments parsed;
  try {
    parsed = parse_arguments(score_arguments(), arguments);
  } catch (const Error& error) {
    throw CommandError(kBadArguments, error.what());
  }
  const Values values(parsed);
  ScoreOptions options;
  options.references = parsed.positionals;
  if (parsed.has("--input")) options.systems = parsed.options.at("--input");
  values.integer("--num-refs", options.fields);
  options.encoding = values.text("--encoding").value_or("utf-8");
  if (parsed.has("--metrics")) options.metrics = parsed.options.at("--metrics");
  options.sentence_level = values.flag("--sentence-level");
  values.integer("--min-len", options.min_length);
  if (values.text("--max-len")) values.integer("--max-len", options.max_length.emplace());
  if (values.text("--length-analysis")) values.integer("--length-analysis", options.length_analysis.emplace());
  read_metrics(values, options);
  read_tests(values, options);
  read_report(values, options);
  options.language_pair = values.text("--language-pair");
  options.test_set = values.text("--test-set");
  options.origlang = values.text("--origlang");
  options.subset = values.text("--subset");
  options.download = values.text("--download");
  options.list = values.flag("--list");
  options.citation = values.flag("--citation");
  options.echo = values.flag("--echo");
  options.help = parsed.ended_by == "--help";
  options.version = parsed.ended_by == "--version";
  return options;
}

void refuse_options_of_bleu(const ScoreOptions& options) {
  const bool has_other_metric = !std::ranges::all_of(options.metrics, [](const std::string& name) {
    return std::ranges::any_of(kOriginalForms, [&](auto form) { return name == original_form_name(form); });
  });
  if (has_other_metric) return;
  const auto refuse = [&](bool is_given, std::string_view option) {
    if (is_given)
      throw CommandError(
          kFailed, fmt::format("{}: not for -m {}, which takes the text as it is", option, options.metrics.front()));
  };
  refuse(options.bleu.lowercase, "-lc");
  refuse(options.tokenizer.has_value(), "-tok");
  refuse(options.bleu.smoothing != BleuSmoothing::kExponential, "-s");
  refuse(options.bleu.smoothing_value.has_value(), "-sv");
}

}  // namespace nmt::scoring
