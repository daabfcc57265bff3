#include "server/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

constexpr size_t kMostClients = 100'000;

/// Seconds until so much is there, at `limit` a minute; 0 where it is.
double wait_for(double wanted, double left, int64_t limit) {
  if (limit == 0 || left >= wanted) return 0;
  return (wanted - left) * 60 / static_cast<double>(limit);
}

}  // namespace

std::optional<int64_t> RateLimiter::admit(const std::string& client, const RateLimit& limit, int64_t characters,
                                          Clock::time_point now) {
  if (!limit.any()) return {};
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= kMostClients) forget_full(now);
  const auto all_requests = static_cast<double>(limit.requests), all_characters = static_cast<double>(limit.characters);
  const auto [found, is_new] = buckets_.try_emplace(client, Bucket{all_requests, all_characters, now});
  Bucket& bucket = found->second;
  if (!is_new) {
    const double minutes = std::chrono::duration<double, std::ratio<60>>(now - bucket.filled).count();
    bucket.requests = std::min(bucket.requests + minutes * all_requests, all_requests);
    bucket.characters = std::min(bucket.characters + minutes * all_characters, all_characters);
    bucket.filled = now;
  }
  const double wanted = std::min(static_cast<double>(characters), all_characters);
  const double seconds =
      std::max(wait_for(1, bucket.requests, limit.requests), wait_for(wanted, bucket.characters, limit.characters));
  if (seconds > 0) return static_cast<int64_t>(std::ceil(seconds - 1e-6));
  bucket.requests -= 1;
  bucket.characters -= static_cast<double>(characters);
  return {};
}

/// After a minute without a request everything is full again, but for who asked for more than a minute's worth.
void RateLimiter::forget_full(Clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& one) { return now - one.second.filled > std::chrono::minutes(1); });
  if (buckets_.size() >= kMostClients) buckets_.clear();
}

namespace {

int64_t limit_of(std::string_view text, std::string_view where) {
  if (text == "-") return 0;
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1)
    throw Error(fmt::format("{}: '{}' is no limit: use a number from 1, or - for none", where, text));
  return number;
}

}  // namespace

ApiKeys ApiKeys::single(std::string_view key) {
  ApiKeys keys;
  keys.add(key, {.name = "the key"}, "--api-key");
  return keys;
}

ApiKeys ApiKeys::from_file(const std::filesystem::path& file) {
  ApiKeys keys;
  const std::string text = read_regular_file(file, 1 << 20);
  std::vector<std::string_view> words;
  int64_t number = 0;
  for (std::string_view rest = without_byte_order_mark(text); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string where = fmt::format("{}, line {}", file.string(), ++number);
    split_words(line, words);
    if (words.empty() || words.front().starts_with('#')) continue;
    if (words.size() > 4)
      throw Error(fmt::format("{}: a key, requests a minute, characters a minute and a name were expected", where));
    ApiKey key{.name = words.size() > 3 ? std::string(words[3]) : fmt::format("line {}", number)};
    if (words.size() > 1) key.limit.requests = limit_of(words[1], where);
    if (words.size() > 2) key.limit.characters = limit_of(words[2], where);
    keys.add(words.front(), std::move(key), where);
  }
  if (keys.empty()) throw Error(fmt::format("{}: holds no key: nobody could be served", file.string()));
  return keys;
}

void ApiKeys::add(std::string_view key, ApiKey properties, std::string_view where) {
  if (key.empty()) throw Error(fmt::format("{}: the key is empty; leave it out to serve everybody", where));
  const std::string name = properties.name;
  if (!keys_.emplace(sha256_of_bytes(std::string(key)), std::move(properties)).second)
    throw Error(fmt::format("{}: this key stands there twice", where));
  if (!names_.insert(name).second)  // its limits and its turns are kept by it
    throw Error(fmt::format("{}: another key has the name '{}'; give each its own", where, name));
}

const ApiKey* ApiKeys::find(std::string_view key) const {
  // What the time of the search tells is about hashes, from which nobody finds a key.
  const auto found = keys_.find(sha256_of_bytes(std::string(key)));
  return found == keys_.end() ? nullptr : &found->second;
}

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
