#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nmt::scoring {

/// The seed of resampling, as the environment variable SACREBLEU_SEED gives it.
struct Seed {
  /// Words of 32 bits, the lowest first (one of 0 for the number 0); empty: take entropy from the system.
  std::vector<uint32_t> words = {12345};
  std::string text = "12345";  ///< as the signature of a confidence interval shows it

  /// A number of any size in decimal digits, or "none". Throws nmt::Error for anything else.
  static Seed parse(const std::string& text);
  /// SACREBLEU_SEED, else 12345.
  static Seed from_environment();

  bool is_random() const { return words.empty(); }
  bool is_zero() const { return words.size() == 1 && words[0] == 0; }
  std::string number_text() const;  ///< as the signature of a paired test shows it: the plain number, or "none"
};

}  // namespace nmt::scoring
