#include "scoring/corpus/metric.h"

#include <charconv>
#include <string>

#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

std::string join(const std::vector<Signature::Field>& fields, std::string Signature::Field::*name) {
  std::string text;
  for (const auto& field : fields) {
    if (!text.empty()) text += '|';
    text += field.*name + ":" + field.value;
  }
  return text;
}

}  // namespace

Signature::Signature(const SignatureFacts& facts, std::vector<Field> metric_fields) {
  const bool varies = facts.references == kVariableReferences;
  if (facts.references != 0) fields_.push_back({"nrefs", "#", varies ? "var" : std::to_string(facts.references)});
  if (facts.bootstrap) fields_.push_back({"bs", "bs", std::to_string(*facts.bootstrap)});
  if (facts.trials) fields_.push_back({"ar", "ar", std::to_string(*facts.trials)});
  if (facts.seed) fields_.push_back({"seed", "rs", *facts.seed});
  for (Field& field : metric_fields) fields_.push_back(std::move(field));
  fields_.push_back({"version", "v", std::string(kSacrebleuVersion)});
}

std::string Signature::text() const { return join(fields_, &Field::key); }
std::string Signature::short_text() const { return join(fields_, &Field::short_key); }

namespace {

std::string confidence_text(const ConfidenceInterval& confidence, int width) {
  return "μ = " + fixed(confidence.mean, width) + " ± " + fixed(confidence.half_width, width);
}

/// sacreBLEU leaves an interval out whose mean is 0. Scores of other programs may be negative.
bool shows_confidence(const Score& score) { return score.confidence && score.confidence->mean != 0; }

double rounded(double value, int width) {
  const std::string text = fixed(value, width);
  std::from_chars(text.data(), text.data() + text.size(), value);  // in no locale
  return value;
}

}  // namespace

std::string Score::format(const ScoreFormat& format) const {
  if (original) return format.score_only ? original->figure : original->line;
  std::string figure = fixed(score, format.width);
  if (shows_confidence(*this)) figure += " (" + confidence_text(*confidence, format.width) + ")";
  if (format.score_only) return figure;
  std::string line = name;
  if (signature) line += "|" + (format.short_signature ? signature->short_text() : signature->text());
  line += " = " + figure;
  if (!details.empty()) line += " " + details;
  return line;
}

std::string Score::format_json(const ScoreFormat& format) const {
  if (format.score_only) return this->format(format);
  const JsonLayout layout{.indent = 1, .only_ascii = false};
  const auto quoted = [&](const std::string& text) { return json_string(text, layout); };
  const auto number = [&](double value) { return repr(rounded(value, format.width)); };
  JsonMembers members = {{"name", quoted(name)}, {"score", original ? original->figure : number(score)}};
  if (!original) members.emplace_back("signature", quoted(signature ? signature->text() : ""));
  if (shows_confidence(*this)) {
    members.emplace_back("confidence_mean", number(confidence->mean));
    members.emplace_back("confidence_var", number(confidence->half_width));
    members.emplace_back("confidence", quoted(confidence_text(*confidence, format.width)));
  }
  if (!details.empty()) members.emplace_back("verbose_score", quoted(details));
  if (signature && !original) {
    for (const auto& field : signature->fields()) members.emplace_back(field.key, quoted(field.value));
  }
  return json_object(members, layout);
}

}  // namespace nmt::scoring
