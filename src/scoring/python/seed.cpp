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
  seed.words.clear();
  if (seed.text == "none") return seed;
  if (text.empty() || text.size() > kMaxDigits ||
      !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    throw Error(fmt::format("SACREBLEU_SEED={}: give a whole number from 0 on, or none", text));
  seed.words = {0};
  for (const char c : text) multiply_add(seed.words, 10, c - '0');
  return seed;
}

Seed Seed::from_environment() {
  const char* value = std::getenv("SACREBLEU_SEED");
  return value ? parse(value) : Seed{};
}

std::string Seed::number_text() const {
  if (is_random()) return "none";
  return text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
}

}  // namespace nmt::scoring
