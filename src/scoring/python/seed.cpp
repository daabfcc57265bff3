#include "scoring/python/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt::scoring {
namespace {

constexpr size_t kMaxDigits = 4300;  // Python's own limit for int()

void multiply_add(std::vector<uint32_t>& words, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (uint32_t& word : words) {
    carry += static_cast<uint64_t>(word) * factor;
    word = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry) words.push_back(static_cast<uint32_t>(carry));
}

}  // namespace

Seed Seed::parse(const std::string& text) {
  Seed seed;
  seed.text = lower_case(text);
  if (seed.text == "none") {
    seed.words.clear();
    return seed;
  }
  std::string_view digits = strip(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto bad = [&](std::string_view why) {
    return Error(fmt::format("SACREBLEU_SEED={}: {}; give a whole number from 0 on, or none", text, why));
  };
  if (digits.empty() || digits.size() > kMaxDigits) throw bad("not a number that can be read");
  seed.words = {0};
  for (size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    const bool between = i > 0 && i + 1 < digits.size() && digits[i - 1] != '_';
    if (c == '_' && between) continue;
    if (c < '0' || c > '9') throw bad("not a number that can be read");
    multiply_add(seed.words, 10, c - '0');
  }
  return seed;
}

Seed Seed::from_environment() {
  const char* value = std::getenv("SACREBLEU_SEED");
  return value ? parse(value) : Seed{};
}

std::string Seed::number_text() const {
  if (is_random()) return "none";
  std::string digits;
  std::vector<uint32_t> rest = words;
  while (!rest.empty()) {
    uint64_t remainder = 0;
    for (size_t i = rest.size(); i-- > 0;) {
      remainder = remainder << 32 | rest[i];
      rest[i] = static_cast<uint32_t>(remainder / 10);
      remainder %= 10;
    }
    digits += static_cast<char>('0' + remainder);
    while (!rest.empty() && rest.back() == 0) rest.pop_back();
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace nmt::scoring
