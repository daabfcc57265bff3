#include "server/access/admission.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "server/http/request_error.h"

namespace nmt {

void AdmissionRules::validate() const {
  if (max_characters < 1) throw Error(fmt::format("--max-characters {}: use 1 or more", max_characters));
  if (max_document_characters < 1)
    throw Error(fmt::format("--max-document-characters {}: use 1 or more", max_document_characters));
  if (limit.requests < 0)
    throw Error(fmt::format("--requests-per-minute {}: use 0 (no limit) or more", limit.requests));
  if (limit.characters < 0)
    throw Error(fmt::format("--characters-per-minute {}: use 0 (no limit) or more", limit.characters));
}

Admission::Admission(AdmissionRules rules) : rules_((rules.validate(), std::move(rules))) {}

/// Null where none is asked for.
const ApiKey* Admission::key_of(const Caller& caller, const std::string& key_field) const {
  if (rules_.keys.empty()) return nullptr;
  const auto& given = caller.key.empty() ? key_field : caller.key;
  if (given.empty()) throw RequestError(403, "this server wants an API key: send it as api_key");
  const ApiKey* const key = rules_.keys.find(given);
  if (!key) throw RequestError(403, "the API key is not valid");
  return key;
}

std::string Admission::client(const Caller& caller, const std::string& key_field) const {
  const ApiKey* const key = key_of(caller, key_field);
  return key ? "key " + key->name : "address " + caller.address;
}

void Admission::check(const Caller& caller, const std::string& key_field, int64_t characters, RequestKind kind) const {
  key_of(caller, key_field);
  const int64_t most = kind == RequestKind::kText ? rules_.max_characters : rules_.max_document_characters;
  if (characters > most)
    throw RequestError(400, fmt::format("Invalid request: request ({}) exceeds text limit ({})", characters, most));
}

void Admission::admit(const Caller& caller, const std::string& key_field, int64_t characters, RequestKind kind) {
  check(caller, key_field, characters, kind);
  const ApiKey* const key = key_of(caller, key_field);
  const auto seconds = limiter_.admit(client(caller, key_field), key ? key->limit : rules_.limit, characters);
  if (seconds)
    throw RequestError(429, fmt::format("Slowdown: the limit is reached; try again in {} s", *seconds), *seconds);
}

}  // namespace nmt
