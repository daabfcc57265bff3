#include "scoring/python/numpy_random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt::scoring {
namespace {

/// NumPy's SeedSequence (after O'Neill's seed_seq_fe): words of entropy to a state of any size.
class SeedSequence {
 public:
  explicit SeedSequence(const std::vector<uint32_t>& entropy) {
    const auto word = [&](size_t i) { return i < entropy.size() ? entropy[i] : 0u; };
    for (size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(word(i));
    for (size_t from = 0; from < pool_.size(); ++from) {
      for (size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
      }
    }
    for (size_t from = pool_.size(); from < entropy.size(); ++from) {
      for (uint32_t& to : pool_) to = mix(to, hash(entropy[from]));
    }
  }

  std::array<uint64_t, 4> generate() const {
    std::array<uint32_t, 8> words;
    uint32_t constant = 0x8b51f9dd;
    for (size_t i = 0; i < words.size(); ++i) {
      uint32_t value = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58f38ded;
      value *= constant;
      words[i] = value ^ value >> 16;
    }
    std::array<uint64_t, 4> state;
    for (size_t i = 0; i < state.size(); ++i) state[i] = words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32;
    return state;
  }

 private:
  uint32_t hash(uint32_t value) {
    value ^= constant_;
    constant_ *= 0x931e8875;
    value *= constant_;
    return value ^ value >> 16;
  }
  static uint32_t mix(uint32_t x, uint32_t y) {
    const uint32_t value = 0xca01f9dd * x - 0x4973f715 * y;
    return value ^ value >> 16;
  }
  std::array<uint32_t, 4> pool_{};
  uint32_t constant_ = 0x43b0d7e5;
};

unsigned __int128 join(uint64_t high, uint64_t low) { return static_cast<unsigned __int128>(high) << 64 | low; }

const unsigned __int128 kMultiplier = join(0x2360ed051fc65da4, 0x4385df649fccf645);

std::vector<uint32_t> system_entropy() {
  std::random_device device;
  return {device(), device(), device(), device()};
}

}  // namespace

NumpyRandom::NumpyRandom(const Seed& seed) {
  const auto words = SeedSequence(seed.is_random() ? system_entropy() : seed.words).generate();
  increment_ = join(words[2], words[3]) << 1 | 1;
  state_ = increment_ + join(words[0], words[1]);  // one step from 0, then the state is added
  state_ = state_ * kMultiplier + increment_;
}

uint64_t NumpyRandom::next64() {
  state_ = state_ * kMultiplier + increment_;
  const auto high = static_cast<uint64_t>(state_ >> 64), low = static_cast<uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

uint32_t NumpyRandom::next32() {
  if (high_half_) {
    const uint32_t half = *high_half_;
    high_half_.reset();
    return half;
  }
  const uint64_t both = next64();
  high_half_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

void NumpyRandom::choose(uint32_t size, std::span<uint32_t> out) {
  if (size == 1) {
    std::fill(out.begin(), out.end(), 0);
    return;
  }
  const uint32_t threshold = -size % size;  // 2^32 mod size
  NumpyRandom local = *this;                // in registers
  for (uint32_t& number : out) {
    uint64_t product = 0;
    do {
      product = static_cast<uint64_t>(local.next32()) * size;
    } while (static_cast<uint32_t>(product) < threshold);
    number = static_cast<uint32_t>(product >> 32);
  }
  *this = local;
}

bool NumpyRandom::coin() {
  if (coins_left_ == 0) {
    coins_ = next32();
    coins_left_ = 32;
  }
  const bool result = coins_ & 1;
  coins_ >>= 1;
  --coins_left_;
  return result;
}

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
