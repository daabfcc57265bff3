#include "scoring/metrics/alignment_error_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace nmt::scoring {
namespace {

using Links = std::set<std::pair<uint32_t, uint32_t>>;

/// Adds the link to `sure` or `possible`, by the sign between its numbers.
void read_link(std::string_view text, Links& sure, Links* possible) {
  std::pair<uint32_t, uint32_t> link;
  const char* end = text.data() + text.size();
  const auto [sign, first_error] = std::from_chars(text.data(), end, link.first);
  const bool has_sign = first_error == std::errc() && sign < end;
  const bool is_sure = has_sign && *sign == '-';
  const bool is_possible = has_sign && possible && (*sign == '?' || *sign == 'p');
  if (is_sure || is_possible) {
    const auto [rest, error] = std::from_chars(sign + 1, end, link.second);
    if (error == std::errc() && rest == end) {
      (is_sure ? sure : *possible).insert(link);
      return;
    }
  }
  throw Error(fmt::format("'{}' is no link; write SOURCE-TARGET{}", text,
                          possible ? ", or SOURCE?TARGET for a possible one" : ""));
}

void read_links(std::string_view line, Links& sure, Links* possible) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t begin = 0; (begin = line.find_first_not_of(kSpace, begin)) != line.npos;) {
    const size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    read_link(line.substr(begin, end - begin), sure, possible);
    begin = end;
  }
}

class LinkCounter final : public SegmentScorer {
 public:
  void set_references(std::span<const std::string_view> references) override {
    if (references.size() > 1) throw Error("-m aer: has one reference; sure and possible links stand in one file");
    sure_.clear();
    possible_.clear();
    read_links(references.front(), sure_, &possible_);
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    Links links;
    read_links(hypothesis, links, nullptr);
    double sure = 0, possible = 0;
    for (const auto& link : links) {
      sure += sure_.contains(link);
      possible += sure_.contains(link) || possible_.contains(link);
    }
    out[0] = static_cast<double>(links.size());
    out[1] = static_cast<double>(sure_.size());
    out[2] = sure;
    out[3] = possible;
  }

 private:
  Links sure_, possible_;
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::unique_ptr<SegmentScorer> AlignmentErrorRate::segment_scorer() const { return std::make_unique<LinkCounter>(); }

Score AlignmentErrorRate::score_of(std::span<const double> sums) const {
  const double links = sums[0] + sums[1];
  Score score;
  score.name = name();
  score.score = links > 0 ? 100 * (1 - (sums[2] + sums[3]) / links) : 0;
  score.details = fmt::format("(precision = {:.1f} recall = {:.1f} links = {:.0f})", 100 * share(sums[3], sums[0]),
                              100 * share(sums[2], sums[1]), sums[0]);
  return score;
}

ResampleScore AlignmentErrorRate::score_of_resample(std::span<const float> sums) const {
  const std::vector<double> exact(sums.begin(), sums.end());  // whole numbers
  return {.value = score_of(exact).score};
}

}  // namespace nmt::scoring
