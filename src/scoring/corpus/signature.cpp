#include "scoring/corpus/signature.h"

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
  fields_.push_back({"nrefs", "#", varies ? "var" : std::to_string(facts.references)});
  if (facts.bootstrap) fields_.push_back({"bs", "bs", std::to_string(*facts.bootstrap)});
  if (facts.trials) fields_.push_back({"ar", "ar", std::to_string(*facts.trials)});
  if (facts.seed) fields_.push_back({"seed", "rs", *facts.seed});
  for (Field& field : metric_fields) fields_.push_back(std::move(field));
  fields_.push_back({"version", "v", std::string(kSacrebleuVersion)});
}

std::string Signature::text() const { return join(fields_, &Field::key); }
std::string Signature::short_text() const { return join(fields_, &Field::short_key); }

}  // namespace nmt::scoring
