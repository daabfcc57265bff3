#include "training/distributed/gradient_buckets.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/utils.h>

namespace nmt {
namespace {

constexpr int64_t kAlignment = 16;  // floats: gradients begin where a tensor of their own would

int64_t aligned(int64_t floats) { return (floats + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

// Called when a backward pass has added up all that a leaf gets in it.
class GradientBuckets::Hook final : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientBuckets& buckets, size_t parameter) : buckets_(buckets), parameter_(parameter) {}
  void operator()(const torch::Tensor&) override { buckets_.take(parameter_); }

 private:
  GradientBuckets& buckets_;
  size_t parameter_;
};

GradientBuckets::GradientBuckets(const NamedTensors& parameters, ProcessGroup& group, int64_t bucket_bytes)
    : group_(group) {
  for (auto named = parameters.rbegin(); named != parameters.rend(); ++named)
    if (named->second.requires_grad()) parameters_.push_back({.leaf = named->second});
  int64_t floats = 0;
  size_t first = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    floats += parameters_[i].leaf.numel();
    if (floats * 4 < bucket_bytes && i + 1 < parameters_.size()) continue;
    lay_out(first, i + 1);
    first = i + 1;
    floats = 0;
  }
  for (size_t i = 0; i < parameters_.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].leaf, std::make_unique<Hook>(*this, i));
}

GradientBuckets::~GradientBuckets() {
  for (auto& parameter : parameters_) torch::autograd::impl::set_post_acc_grad_hooks(parameter.leaf, nullptr);
}

// One bucket of the parameters [first, end): their gradients, then for each of them whether it has one.
void GradientBuckets::lay_out(size_t first, size_t end) {
  int64_t floats = 0;
  for (size_t i = first; i < end; ++i) floats += aligned(parameters_[i].leaf.numel());
  const auto count = static_cast<int64_t>(end - first);
  const auto values = at::zeros({floats + count}, parameters_[first].leaf.options().requires_grad(false));
  const auto counts = values.narrow(0, floats, count);
  for (int64_t i = static_cast<int64_t>(first), at = 0; i < static_cast<int64_t>(end); ++i) {
    auto& parameter = parameters_[i];
    parameter.bucket = buckets_.size();
    parameter.place = values.narrow(0, at, parameter.leaf.numel()).view(parameter.leaf.sizes());
    parameter.count = counts.narrow(0, i - static_cast<int64_t>(first), 1);
    at += aligned(parameter.leaf.numel());
  }
  buckets_.push_back({.counts = counts, .sum = group_.make_bucket(values), .parameters = count});
}

void GradientBuckets::begin_round(int64_t contributors, bool last) {
  group_.show_progress();
  open_ = last || group_.adds_in_order();
  // One sum an update has what every process has gathered in its rounds.
  contributors_ = group_.adds_in_order() ? contributors : group_.size();
  sent_ = 0;
  for (auto& bucket : buckets_) bucket.missing = bucket.parameters;
  for (auto& parameter : parameters_) parameter.taken = false;
}

void GradientBuckets::take(size_t index) {
  group_.show_progress();
  if (!open_) return;
  put(parameters_[index]);
  send_full_ones();
}

void GradientBuckets::put(Parameter& parameter) {
  if (parameter.taken) return;
  const torch::NoGradGuard no_grad;
  auto& bucket = buckets_[parameter.bucket];
  if (bucket.missing == bucket.parameters) bucket.sum->wait_added();  // the values of the round before
  auto& gradient = parameter.leaf.mutable_grad();
  if (gradient.defined()) {
    parameter.place.copy_(gradient);
    gradient.reset();
    parameter.count.fill_(1);
  } else {
    parameter.place.zero_();
    parameter.count.zero_();
  }
  parameter.taken = true;
  --bucket.missing;
}

void GradientBuckets::send_full_ones() {
  for (; sent_ < buckets_.size() && buckets_[sent_].missing == 0; ++sent_) buckets_[sent_].sum->add(contributors_);
}

void GradientBuckets::end_round() {
  if (!open_) return;
  for (auto& parameter : parameters_) put(parameter);  // those without gradient, or all where there was no batch
  send_full_ones();
  open_ = false;
}

void GradientBuckets::finish() {
  const torch::NoGradGuard no_grad;
  for (auto& bucket : buckets_) bucket.sum->finish();
  std::vector<torch::Tensor> counts;  // in the order of the parameters
  for (auto& bucket : buckets_) {
    bucket.sum->wait_finished();
    counts.push_back(bucket.counts);
  }
  if (counts.empty()) return;
  const auto on_host = at::cat(counts).cpu();  // together: the host waits for a device once
  const float* count = on_host.const_data_ptr<float>();
  for (auto& parameter : parameters_) parameter.leaf.mutable_grad() = *count++ > 0 ? parameter.place : torch::Tensor();
}

}  // namespace nmt
