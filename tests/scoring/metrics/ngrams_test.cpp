#include "scoring/metrics/ngrams.h"

#include <map>
#include <random>

#include "support.h"

namespace nmt::scoring::ngrams_test {
namespace {

using Symbols = std::vector<uint32_t>;

std::map<Symbols, int64_t> ngrams_of(const Symbols& symbols, int order) {
  std::map<Symbols, int64_t> counts;
  for (size_t i = 0; i + order <= symbols.size(); ++i)
    ++counts[Symbols(symbols.begin() + i, symbols.begin() + i + order)];
  return counts;
}

std::vector<int64_t> plain_matches(const Symbols& hypothesis, const std::vector<Symbols>& references, int max_order) {
  std::vector<int64_t> matches;
  for (int order = 1; order <= max_order; ++order) {
    int64_t sum = 0;
    for (const auto& [ngram, count] : ngrams_of(hypothesis, order)) {
      int64_t allowed = 0;
      for (const Symbols& reference : references) allowed = std::max(allowed, ngrams_of(reference, order)[ngram]);
      sum += std::min(count, allowed);
    }
    matches.push_back(sum);
  }
  return matches;
}

TEST(NgramMatcher, EqualsCountingWithMaps) {
  std::mt19937 random(3);
  for (const int max_order : {1, 4, 6}) {
    NgramMatcher matcher(max_order);
    for (int round = 0; round < 200; ++round) {
      const uint32_t alphabet = 1 + random() % 9;
      const auto draw = [&](size_t longest) {
        Symbols symbols(random() % longest);
        for (uint32_t& symbol : symbols) symbol = random() % alphabet;
        return symbols;
      };
      std::vector<Symbols> references(1 + random() % 3);
      matcher.clear();
      for (Symbols& reference : references) matcher.add_reference(reference = draw(round % 50 == 0 ? 900 : 30));
      for (int system = 0; system < 2; ++system) {
        const Symbols hypothesis = draw(30);
        std::vector<int64_t> matches(max_order);
        matcher.match(hypothesis, matches);
        EXPECT_EQ(matches, plain_matches(hypothesis, references, max_order)) << "round " << round;
      }
    }
  }
}

TEST(NgramMatcher, FindsNothingInUnknownSymbols) {
  NgramMatcher matcher(2);
  matcher.add_reference(Symbols{0, 1, 2});
  std::vector<int64_t> matches(2);
  matcher.match(Symbols{SymbolTable::kUnknown, 1, SymbolTable::kUnknown}, matches);
  EXPECT_EQ(matches, (std::vector<int64_t>{1, 0}));
}

TEST(SymbolTable, NumbersDistinctStringsAndForgetsThem) {
  SymbolTable table;
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back("word" + std::to_string(i) + std::string(i % 20, 'x'));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(table.find(texts[7]), SymbolTable::kUnknown);
    for (uint32_t i = 0; i < texts.size(); ++i) ASSERT_EQ(table.add(texts[i]), i);
    for (uint32_t i = 0; i < texts.size(); ++i) ASSERT_EQ(table.add(std::string_view(texts[i])), i);
    EXPECT_EQ(table.find(texts[1234]), 1234u);
    EXPECT_EQ(table.find("word"), SymbolTable::kUnknown);
    EXPECT_EQ(table.find(""), SymbolTable::kUnknown);
    table.clear();
  }
}

}  // namespace
}  // namespace nmt::scoring::ngrams_test
