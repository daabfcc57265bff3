// How often an inline tag comes to stand on the right words, by alignments beside links that were made by hand:
//   tag_placement_bench SOURCE TARGET GOLD LINKS [LINKS...]
// SOURCE and TARGET are the pairs of GOLD, a line each; GOLD and LINKS are as alignment_error_rate.py reads them. Each
// run of one, two and three words of a source is put into a tag of its own. A tag is right that holds all target words
// which GOLD surely links with the words in it, and none that it links with others only; where those lie apart, one run
// of them. The signs at the ends of a word may stand outside of the tag: <b>breakfast</b>. holds its word.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/place_tags.h"

namespace nmt {
namespace {

using Links = std::vector<std::pair<size_t, size_t>>;

struct Gold {
  Links sure, all;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// "3-4 5?6"
Gold parse_links(const std::string& text) {
  Gold gold;
  std::istringstream words(text);
  for (size_t source = 0, target = 0; words >> source;) {
    const bool sure = words.get() == '-';
    words >> target;
    gold.all.emplace_back(source, target);
    if (sure) gold.sure.emplace_back(source, target);
  }
  return gold;
}

/// Begin and end of each word, in bytes.
std::vector<std::pair<size_t, size_t>> words_of(const std::string& text) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t begin = text.find_first_not_of(' '); begin != std::string::npos;) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.emplace_back(begin, end);
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

/// A word without the signs at its ends; itself where it is nothing but signs.
std::pair<size_t, size_t> without_signs(const std::string& text, std::pair<size_t, size_t> word) {
  const auto is_sign = [&](size_t byte) { return std::ispunct(static_cast<unsigned char>(text[byte])) != 0; };
  auto [begin, end] = word;
  while (begin < end && is_sign(begin)) ++begin;
  while (end > begin && is_sign(end - 1)) --end;
  return begin == end ? word : std::pair(begin, end);
}

std::set<size_t> linked(const Links& links, size_t first, size_t last) {
  std::set<size_t> targets;
  for (const auto& [source, target] : links)
    if (source >= first && source < last) targets.insert(target);
  return targets;
}

/// The words that the tag around the source words [first, last) holds in the translation.
std::set<size_t> held(const std::string& source, const std::string& target, const AlignedTranslation& aligned,
                      size_t first, size_t last) {
  const auto words = words_of(source), translated = words_of(target);
  const TagSpan span{.begin = words[first].first, .end = words[last - 1].second};
  const auto events = place_tags(source, std::span(&span, 1), aligned);
  std::set<size_t> result;
  for (size_t i = 0; i < translated.size(); ++i) {
    const auto [begin, end] = without_signs(target, translated[i]);
    if (begin >= events.front().position && end <= events.back().position) result.insert(i);
  }
  return result;
}

bool is_right(const std::set<size_t>& held, const std::set<size_t>& sure, const std::set<size_t>& possible,
              const std::set<size_t>& of_others) {
  if (held.empty()) return false;
  if (std::ranges::any_of(held, [&](size_t word) { return !possible.contains(word) && of_others.contains(word); }))
    return false;
  // Without words of others all of them fit into one tag only where they stand together.
  bool apart = false;
  for (size_t word = *sure.begin(); word <= *sure.rbegin(); ++word)
    apart = apart || (!possible.contains(word) && of_others.contains(word));
  if (!apart) return std::ranges::includes(held, sure);
  return std::ranges::any_of(held, [&](size_t word) { return sure.contains(word); });
}

void run(const std::string& sources, const std::string& targets, const std::string& gold_path,
         const std::string& links_path) {
  const auto source = lines_of(sources), target = lines_of(targets), links = lines_of(links_path);
  std::vector<Gold> gold;
  for (const auto& line : lines_of(gold_path))
    if (!line.empty() && line[0] != '#') gold.push_back(parse_links(line.substr(line.find('\t') + 1)));
  if (source.size() != gold.size() || target.size() != gold.size() || links.size() != gold.size())
    throw Error(fmt::format("{} pairs of {} and {} lines have {} lines of links by hand and {} in {}", source.size(),
                            sources, targets, gold.size(), links.size(), links_path));
  std::map<size_t, std::pair<int, int>> counts;  // right, all
  for (size_t i = 0; i < gold.size(); ++i) {
    const auto words = words_of(source[i]), translated = words_of(target[i]);
    AlignedTranslation aligned{.text = target[i]};
    for (const auto& [s, t] : parse_links(links[i]).all)
      aligned.alignment.push_back(
          {words.at(s).first, words.at(s).second, translated.at(t).first, translated.at(t).second});
    for (size_t length = 1; length <= 3; ++length) {
      for (size_t first = 0; first + length <= words.size(); ++first) {
        const auto sure = linked(gold[i].sure, first, first + length),
                   possible = linked(gold[i].all, first, first + length);
        auto others = linked(gold[i].all, 0, first);
        others.merge(linked(gold[i].all, first + length, words.size()));
        if (sure.empty()) continue;
        auto& [right, all] = counts[length];
        right += is_right(held(source[i], target[i], aligned, first, first + length), sure, possible, others);
        ++all;
      }
    }
  }
  int right = 0, all = 0;
  for (const auto& [length, count] : counts) {
    fmt::print("{:5.1f} ", 100.0 * count.first / count.second);
    right += count.first, all += count.second;
  }
  fmt::print("{:5.1f}  {}\n", 100.0 * right / all, links_path);
}

}  // namespace
}  // namespace nmt

int main(int count, char** arguments) try {
  if (count < 5) throw nmt::Error("usage: tag_placement_bench SOURCE TARGET GOLD LINKS [LINKS...]");
  fmt::print("words in a tag, % right\n    1     2     3   all\n");
  for (int i = 4; i < count; ++i) nmt::run(arguments[1], arguments[2], arguments[3], arguments[i]);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
