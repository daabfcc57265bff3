#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// The stream of numpy.random.default_rng(seed): PCG64 (O'Neill 2014, XSL-RR 128/64), seeded by NumPy's SeedSequence.
class NumpyRandom {
 public:
  /// A seed without words takes entropy from the system.
  explicit NumpyRandom(const Seed& seed);

  uint64_t next64();
  uint32_t next32();  ///< halves of next64(), the low one first
  /// The same as choice(size) with replacement: fills `out` with numbers uniform in [0, size), 1 <= size <= 2^32 - 1
  /// (Lemire 2019). Size 1 draws nothing.
  void choose(uint32_t size, std::span<uint32_t> out);
  /// The same as integers(2, dtype=bool).
  bool coin();

 private:
  unsigned __int128 state_ = 0, increment_ = 0;
  std::optional<uint32_t> high_half_;
  uint32_t coins_ = 0;
  int coins_left_ = 0;
};

}  // namespace nmt::scoring
