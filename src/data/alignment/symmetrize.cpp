#include "data/alignment/symmetrize.h"

namespace nmt {
namespace {

/// The links of a pair as a table.
class LinkTable {
 public:
  LinkTable(int64_t sources, int64_t targets)
      : sources_(sources), linked_(sources * targets), source_has_(sources), target_has_(targets) {}

  bool has(int64_t source, int64_t target) const {
    return source >= 0 && target >= 0 && source < sources_ && target < std::ssize(target_has_) &&
           linked_[target * sources_ + source];
  }
  void add(int64_t source, int64_t target) {
    linked_[target * sources_ + source] = source_has_[source] = target_has_[target] = 1;
  }
  bool source_has(int64_t source) const { return source_has_[source]; }
  bool target_has(int64_t target) const { return target_has_[target]; }
  bool has_neighbour(int64_t source, int64_t target) const {
    for (int64_t s = source - 1; s <= source + 1; ++s)
      for (int64_t t = target - 1; t <= target + 1; ++t)
        if (has(s, t)) return true;
    return false;
  }
  /// Calls body(source, target) for all links, ascending by target.
  template <typename Body>
  void for_each(const Body& body) const {
    for (int64_t t = 0; t < std::ssize(target_has_); ++t)
      for (int64_t s = 0; s < sources_; ++s)
        if (linked_[t * sources_ + s]) body(s, t);
  }

 private:
  int64_t sources_;
  std::vector<char> linked_, source_has_, target_has_;
};

/// Adds links of either beside links that there are, as long as there are such.
void grow(const LinkTable& either, LinkTable& table) {
  for (bool grown = true; grown;) {
    grown = false;
    either.for_each([&](int64_t s, int64_t t) {
      if (table.has(s, t) || (table.source_has(s) && table.target_has(t)) || !table.has_neighbour(s, t)) return;
      table.add(s, t);
      grown = true;
    });
  }
}

}  // namespace

std::vector<PieceLink> symmetrize(std::span<const int32_t> forward, std::span<const int32_t> reversed,
                                  Symmetrization how) {
  const int64_t sources = std::ssize(reversed), targets = std::ssize(forward);
  LinkTable either(sources, targets), table(sources, targets);
  for (int64_t t = 0; t < targets; ++t) {
    if (forward[t] < 0) continue;
    either.add(forward[t], t);
    if (reversed[forward[t]] == t || how == Symmetrization::kUnion) table.add(forward[t], t);
  }
  for (int64_t s = 0; s < sources; ++s) {
    if (reversed[s] < 0) continue;
    either.add(s, reversed[s]);
    if (how == Symmetrization::kUnion) table.add(s, reversed[s]);
  }
  if (how == Symmetrization::kGrowDiagonal || how == Symmetrization::kGrowDiagonalFinal) grow(either, table);
  if (how == Symmetrization::kGrowDiagonalFinal) {
    either.for_each([&](int64_t s, int64_t t) {
      if (!table.source_has(s) && !table.target_has(t)) table.add(s, t);
    });
  }
  std::vector<PieceLink> links;
  table.for_each([&](int64_t s, int64_t t) {
    links.push_back({.source = static_cast<uint16_t>(s), .target = static_cast<uint16_t>(t)});
  });
  return links;
}

}  // namespace nmt
