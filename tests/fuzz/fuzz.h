#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/unicode.h"

/// What the fuzz programs share.
namespace nmt::fuzz {

/// Ends the program with the bytes of `input` shown unless `holds`.
inline void require(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\ninput:", what);
  for (const unsigned char c : input) std::fprintf(stderr, " %02x", c);
  std::fprintf(stderr, "\n");
  std::abort();
}

inline std::string without_white_space(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  std::string joined;
  for (const auto word : words) joined += word;
  return joined;
}

/// Bytes that are mostly made of `parts`, text that the tested code treats in special ways.
inline std::string random_input(std::mt19937_64& random, const std::vector<std::string>& parts) {
  std::string input(1, static_cast<char>(random()));
  const size_t count = random() % (random() % 50 == 0 ? 2500 : 40);
  for (size_t i = 0; i < count; ++i) {
    switch (random() % 8) {
      case 0:
        input += static_cast<char>(random());
        break;
      case 1:
        input += to_utf8(std::u32string(1, static_cast<char32_t>(random() % 0x110000)));
        break;
      case 2:  // something that was there already
        if (input.size() > 2) input += input.substr(random() % input.size(), random() % 12);
        break;
      default:
        input += parts[random() % parts.size()];
    }
  }
  return input;
}

/// The program NAME [SECONDS [SEED]]: checks made-up input until the time is over. Returns the exit code.
template <typename Check>
int run(const char* name, int argc, char** argv, const std::vector<std::string>& parts, Check&& check) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::printf("%s: %g seconds, seed %llu\n", name, seconds, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  const auto start = std::chrono::steady_clock::now();
  int64_t rounds = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    check(random_input(random, parts));
    ++rounds;
  }
  std::printf("%s: %lld inputs, nothing wrong\n", name, static_cast<long long>(rounds));
  return rounds > 0 ? 0 : 1;
}

}  // namespace nmt::fuzz
