#include "training/update_profiler.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/error.h"

namespace nmt {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

constexpr int64_t kUpdatesBefore = 10;
constexpr size_t kShown = 10;

const torch::profiler::impl::ProfilerConfig& kineto() {
  static const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  return config;
}

std::set<ActivityType> activities() {
  std::set<ActivityType> all{ActivityType::CPU};
#ifdef NMT_WITH_CUDA
  all.insert(ActivityType::CUDA);
#endif
  return all;
}

}  // namespace

std::vector<OperationCost> operation_costs(std::vector<TracedCall> calls) {
  // Sorted by thread and time, what encloses before what it encloses.
  std::sort(calls.begin(), calls.end(), [](const TracedCall& a, const TracedCall& b) {
    return std::tuple(a.thread, a.begin, -a.end) < std::tuple(b.thread, b.begin, -b.end);
  });
  std::unordered_map<std::string, OperationCost> costs;
  std::vector<const TracedCall*> open;
  for (const TracedCall& call : calls) {
    while (!open.empty() && (open.back()->thread != call.thread || open.back()->end <= call.begin)) open.pop_back();
    if (!open.empty()) costs[open.back()->name].own -= call.end - call.begin;
    OperationCost& cost = costs[call.name];
    cost.own += call.end - call.begin;
    ++cost.calls;
    open.push_back(&call);
  }
  std::vector<OperationCost> sorted;
  for (auto& [name, cost] : costs) sorted.push_back({name, cost.calls, cost.own});
  std::sort(sorted.begin(), sorted.end(), [](const OperationCost& a, const OperationCost& b) {
    return std::tuple(-a.own, a.name) < std::tuple(-b.own, b.name);
  });
  return sorted;
}

UpdateProfiler::UpdateProfiler(int64_t updates, std::filesystem::path trace, Logger& log)
    : wanted_(updates), trace_(std::move(trace)), log_(log) {
  if (updates < 1) throw Error(fmt::format("--profile {}: use 1 or more updates", updates));
}

UpdateProfiler::~UpdateProfiler() {
  if (recording_) profiler::disableProfiler();  // the run ended in an exception
}

void UpdateProfiler::on_update(const UpdateReport&) {
  ++seen_;
  if (seen_ == kUpdatesBefore) start();
  if (seen_ == kUpdatesBefore + wanted_) finish();
}

void UpdateProfiler::on_end(const std::string&) {
  if (recording_ && seen_ > kUpdatesBefore) return finish();
  if (seen_ <= kUpdatesBefore)
    log_.warn("--profile: the run ended after {} updates, before the {} that are let pass", seen_, kUpdatesBefore);
}

void UpdateProfiler::start() {
  profiler::prepareProfiler(kineto(), activities());
  profiler::enableProfiler(kineto(), activities());
  recording_ = true;
}

void UpdateProfiler::finish() {
  recording_ = false;
  const auto result = profiler::disableProfiler();
  result->save(trace_.string());
  std::vector<TracedCall> calls;
  for (const auto& event : result->events()) {
    if (event.isAsync() || event.deviceType() != c10::DeviceType::CPU) continue;
    calls.push_back({event.name(), event.startThreadId(), static_cast<int64_t>(event.startNs()),
                     static_cast<int64_t>(event.endNs())});
  }
  const auto costs = operation_costs(std::move(calls));
  int64_t all = 0;
  for (const auto& cost : costs) all += cost.own;
  const int64_t updates = seen_ - kUpdatesBefore;
  log_.info(
      "profile of {} updates, trace in {} (chrome://tracing, ui.perfetto.dev); own time of the most expensive "
      "operations:",
      updates, trace_.string());
  for (size_t i = 0; i < std::min(kShown, costs.size()); ++i)
    log_.info("  {:5.1f} %  {:8.2f} ms/update  {:5.0f} calls/update  {}",
              100.0 * costs[i].own / std::max<int64_t>(all, 1), 1e-6 * costs[i].own / updates,
              1.0 * costs[i].calls / updates, costs[i].name);
}

}  // namespace nmt
