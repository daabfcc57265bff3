#include "server/access/api_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/files/file.h"
#include "base/files/sha256.h"
#include "base/words.h"

namespace nmt {
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

}  // namespace nmt
