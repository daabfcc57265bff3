#include "scoring/python/numpy_random.h"

#include "support.h"

namespace nmt::scoring::numpy_random_test {
namespace {

// Figures of numpy.random.default_rng, the same in NumPy 1.24 and 2.4.
TEST(NumpyRandom, StreamEqualsNumpyForSeedsOfAnySize) {
  struct Case {
    std::string seed;
    std::vector<uint64_t> raw;
    std::vector<uint32_t> chosen;  // choice(3000)
  };
  const std::vector<Case> cases = {
      {"12345",
       {0x3a32b18db2ffc19d, 0x51171315c9e4c4de, 0xcc2024823444efd9, 0xad1f06aea486e910},
       {2097, 682, 2365, 950, 612, 2392, 1928, 2028, 2965, 1173, 2518, 998}},
      {"0", {0xa30febcfd9c2825f, 0x4510bdf882d9d721}, {2551, 1910, 1533, 809, 923, 122}},
      {"42", {0xc621fbcd16d92688, 0x705a5661a791ffc1}, {267, 2321, 1963, 1316, 1299, 2575}},
      {"4294967296", {0xe3c5ebe285ac1625, 0x8ea09968fe31dbcc}, {1566, 2669, 2978, 1671, 908, 2402}},
      {"123456789012345678901234567890", {0x586e9e552d7ef07c, 0x55f5e5fce5201900}, {533, 1036, 2685, 1007, 273, 452}},
      {"1606938044258990275541962092341162602522202993782792835313721",
       {0x76ecc5d56e7ecfe6, 0x8c7e605a14614d97},
       {1294, 1393, 238, 1646, 2931, 1754}}};
  for (const auto& [seed, raw, chosen] : cases) {
    NumpyRandom bits(Seed::parse(seed));
    for (const uint64_t word : raw) EXPECT_EQ(bits.next64(), word) << seed;
    std::vector<uint32_t> numbers(chosen.size());
    NumpyRandom(Seed::parse(seed)).choose(3000, numbers);
    EXPECT_EQ(numbers, chosen) << seed;
  }
}

TEST(NumpyRandom, ChoosesWithoutBias) {
  std::vector<uint32_t> numbers(12);
  NumpyRandom(Seed()).choose(3, numbers);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{2, 0, 2, 0, 0, 2, 1, 2, 2, 1, 2, 0}));
  // Nearly half of the draws are rejected here.
  std::vector<uint32_t> large(5);
  NumpyRandom(Seed()).choose((1u << 31) + 1, large);
  EXPECT_EQ(large, (std::vector<uint32_t>{488200390, 1693606511, 680233354, 438466540, 1712329281}));
}

TEST(NumpyRandom, ChoosingFromOneDrawsNothing) {
  NumpyRandom random{Seed()};
  std::vector<uint32_t> numbers = {7, 7};
  random.choose(1, numbers);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(random.next64(), 0x3a32b18db2ffc19du);
}

TEST(NumpyRandom, CoinsEqualNumpy) {
  NumpyRandom random{Seed()};
  std::string coins;
  for (int i = 0; i < 52; ++i) coins += random.coin() ? '1' : '0';
  EXPECT_EQ(coins, "1011100110000011111111110100110110110001100011010100");
}

TEST(NumpyRandom, WithoutASeedDiffersFromRunToRun) {
  EXPECT_NE(NumpyRandom(Seed::parse("none")).next64(), NumpyRandom(Seed::parse("none")).next64());
}

}  // namespace
}  // namespace nmt::scoring::numpy_random_test
