#include "convert/marian/marian_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace nmt::convert {
namespace {

constexpr size_t kLongest = 1 << 16;  // bytes; a tree of YAML is far larger than its text

}  // namespace

MarianOptions::MarianOptions(const std::string& yaml, std::string name) : name_(std::move(name)) {
  if (yaml.size() > kLongest) throw Error(fmt::format("{}: {} bytes are too many for options", name_, yaml.size()));
  try {
    options_ = YAML::Load(yaml);
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}:{}: damaged: {}", name_, error.mark.line + 1, error.msg));
  }
  if (!options_.IsMap()) throw Error(name_ + ": damaged: not a map of options");
}

bool MarianOptions::has(const char* key) const { return options_[key].IsDefined(); }

template <typename T>
T MarianOptions::value(const char* key, const T& absent) const {
  const YAML::Node node = options_[key];
  if (!node.IsDefined() || node.IsNull()) return absent;
  try {
    return node.as<T>();
  } catch (const YAML::Exception&) {
    throw Error(fmt::format("{}: {}: a value of the wrong kind", name_, key));
  }
}

std::string MarianOptions::text(const char* key, const std::string& absent) const { return value(key, absent); }
bool MarianOptions::flag(const char* key, bool absent) const { return value(key, absent); }
double MarianOptions::real(const char* key, double absent) const { return value(key, absent); }
std::vector<std::string> MarianOptions::list(const char* key) const { return value(key, std::vector<std::string>()); }

int64_t MarianOptions::number(const char* key, int64_t min, int64_t max) const {
  const auto found = has(key) ? value(key, min) : min - 1;
  if (found < min || found > max)
    throw Error(fmt::format("{}: {} is missing or no whole number from {} to {}", name_, key, min, max));
  return found;
}

void MarianOptions::refuse(const std::string& key, const std::string& value) const {
  throw Error(fmt::format("{}: {} is {}, which this toolkit's Transformer cannot represent", name_, key, value));
}

}  // namespace nmt::convert
