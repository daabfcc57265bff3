#include "scoring/corpus/score.h"

#include <charconv>
#include <string>

#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

std::string confidence_text(const ConfidenceInterval& confidence, int width) {
  return "μ = " + fixed(confidence.mean, width) + " ± " + fixed(confidence.half_width, width);
}

/// sacreBLEU leaves an interval out whose mean is 0.
bool shows_confidence(const Score& score) { return score.confidence && score.confidence->mean > 0; }

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
