#include "text/word_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nmt::word_links_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words(std::string_view text, const std::vector<LinkedWord>& links) {
  std::vector<std::string> out;
  for (const auto& word : links) out.emplace_back(text.substr(word.bytes.begin, word.bytes.size()));
  return out;
}

/// "source=target" for each link.
std::vector<std::string> links_of(std::string_view source, std::string_view target, std::vector<AlignedWords> alignment,
                                  std::vector<size_t> borders = {}) {
  const auto links = link_words(source, target, alignment, std::move(borders));
  const auto from = words(source, links.source), to = words(target, links.target);
  std::vector<std::string> out;
  for (size_t i = 0; i < from.size(); ++i)
    for (const auto k : links.targets_of(i)) out.push_back(from[i] + "=" + to[k]);
  return out;
}

TEST(WordLinks, CutsWordsAndTheirPunctuation) {
  const std::string text = "\u00ABdon't\u00BB (a-b), 3.5%";
  EXPECT_THAT(words(text, link_words(text, "", {}).source),
              ElementsAre("\u00AB", "don't", "\u00BB", "(", "a-b", "),", "3.5", "%"));
}

TEST(WordLinks, PunctuationGoesWithPunctuation) {
  EXPECT_THAT(links_of("house.", "Haus!", {{0, 6, 0, 5}}), ElementsAre("house=Haus", ".=!"));
  EXPECT_THAT(links_of("house", "Haus!", {{0, 5, 0, 5}}), ElementsAre("house=Haus"));
}

TEST(WordLinks, WordsAreNotTornButWhereTheyAreTheSame) {
  EXPECT_THAT(links_of("unseen", "ungesehen", {{0, 2, 0, 2}, {2, 6, 2, 9}}), ElementsAre("unseen=ungesehen"));
  EXPECT_THAT(links_of("H2O", "H2O", {{0, 3, 0, 3}}, {1, 2}), ElementsAre("H=H", "2=2", "O=O"));
  EXPECT_THAT(links_of("a-b", "c-d", {{0, 1, 0, 1}, {1, 2, 1, 2}, {2, 3, 2, 3}}), ElementsAre("a=c", "-=-", "b=d"));
}

TEST(WordLinks, CharactersOfScriptsWithoutSpaces) {
  EXPECT_THAT(links_of("red house", "\u7D05\u3044\u5BB6", {{0, 3, 0, 6}, {4, 9, 6, 9}}),
              ElementsAre("red=\u7D05", "red=\u3044", "house=\u5BB6"));
}

TEST(WordLinks, ByPlaceWhereNothingIsKnown) {
  EXPECT_THAT(links_of("a b c.", "x y z!", {}), ElementsAre("a=x", "b=y", "c=z", ".=!"));
  EXPECT_THAT(links_of("a b", "", {}), IsEmpty());
}

TEST(WordLinks, AnyNumbersAreTaken) {
  const size_t far = static_cast<size_t>(-1);
  EXPECT_THAT(links_of("a b", "x y", {{far, 0, 0, 1}, {0, far, 2, far}, {1, 1, 0, 1}, {5, 9, 0, 1}}),
              ElementsAre("a=y", "b=y"));
}

}  // namespace
}  // namespace nmt::word_links_test
