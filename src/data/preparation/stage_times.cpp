#include "data/preparation/stage_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nmt {
namespace {

constexpr std::array<const char*, kPreprocessStages> kStageNames = {
    "reading and filtering", "vocabulary", "encoding", "lexicon", "alignment", "writing", "checksums"};

}  // namespace

StageTimes::Scope::Scope(StageTimes& times, PreprocessStage stage)
    : times_(times), outer_(times.innermost_), stage_(stage), begin_(times.clock_()) {
  times_.innermost_ = this;
}

StageTimes::Scope::~Scope() {
  const double all = times_.clock_() - begin_;
  times_.seconds_[static_cast<size_t>(stage_)] += all - inner_;
  if (outer_) outer_->inner_ += all;
  times_.innermost_ = outer_;
}

std::vector<std::string> StageTimes::table() const {
  const double whole = clock_() - begin_;
  std::vector<std::string> lines{fmt::format("{:.1f} s, of these:", whole)};
  const auto add = [&](double seconds, const char* name) {
    if (seconds > 0)
      lines.push_back(fmt::format("  {:5.1f} %  {:8.1f} s  {}", 100 * seconds / std::max(whole, 1e-9), seconds, name));
  };
  for (size_t stage = 0; stage < kPreprocessStages; ++stage) add(seconds_[stage], kStageNames[stage]);
  add(whole - std::accumulate(seconds_.begin(), seconds_.end(), 0.0), "the rest");
  return lines;
}

}  // namespace nmt
