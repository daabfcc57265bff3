#include "nn/cross_entropy.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "nn/kernel_support.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits held at once, in elements: big enough for fast products, small enough for caches and memory.
constexpr int64_t kBlockElements = 8 << 20;

// The loss of each row of a block of logits, or of each pair of neighbours.
void run_kernel(kernels::Type type, const kernels::CrossEntropyRows& task, const std::optional<PairLoss>& pair) {
  if (!pair)
    return at::parallel_for(0, task.rows, 16, [&](int64_t first, int64_t last) {
      kernels::kernels().cross_entropy(type, task, first, last);
    });
  at::parallel_for(0, task.rows / 2, 8, [&](int64_t first, int64_t last) {
    kernels::kernels().cross_entropy_pairs(type, task, *pair, first, last);
  });
}

// Gradients are of the sum of the rows' losses and are made together with the losses; backward only scales them.
struct OutputCrossEntropy : torch::autograd::Function<OutputCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden_in, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& optional_bias, const torch::Tensor& labels_in,
                               double rate, const std::optional<PairLoss>& pair, bool need_gradients) {
    const auto bias = optional_bias.value_or(torch::Tensor());
    const auto hidden = hidden_in.contiguous();
    const auto labels = labels_in.contiguous();
    const auto matrix = weight.to(hidden.scalar_type());  // [vocabulary, model]
    const int64_t rows = hidden.size(0), classes = matrix.size(0);
    const int64_t fitting = kBlockElements / std::max<int64_t>(classes, 1) / 2 * 2;  // whole pairs
    const int64_t block = std::clamp<int64_t>(fitting, 64, std::max<int64_t>(rows, 64));

    auto loss = torch::empty({rows}, hidden.options().dtype(torch::kFloat32));
    auto label_loss = torch::empty_like(loss);
    auto correct = torch::empty({rows}, labels.options().dtype(torch::kUInt8));
    auto logits_buffer = torch::empty({std::min(block, rows), classes}, hidden.options());
    torch::Tensor of_hidden, of_weight, of_bias;
    if (need_gradients) {
      of_hidden = torch::empty_like(hidden);
      of_weight = torch::zeros({classes, hidden.size(1)}, loss.options());
      if (bias.defined()) of_bias = torch::zeros({classes}, loss.options());
    }
    for (int64_t begin = 0; begin < rows; begin += block) {
      const int64_t n = std::min(block, rows - begin);
      auto logits = logits_buffer.narrow(0, 0, n);
      const auto part = hidden.narrow(0, begin, n);
      at::mm_out(logits, part, matrix.t());
      if (bias.defined()) logits.add_(bias);
      kernels::CrossEntropyRows task{.logits = logits.mutable_data_ptr(),
                                     .rows = n,
                                     .classes = classes,
                                     .labels = labels.const_data_ptr<int64_t>() + begin,
                                     .smoothing = static_cast<float>(rate),
                                     .write_gradient = need_gradients,
                                     .gradient_scale = 1,
                                     .loss = loss.mutable_data_ptr<float>() + begin,
                                     .label_loss = label_loss.mutable_data_ptr<float>() + begin,
                                     .correct = correct.mutable_data_ptr<uint8_t>() + begin};
      run_kernel(kernel_type(logits), task, pair);
      if (!need_gradients) continue;
      auto of_part = of_hidden.narrow(0, begin, n);
      at::mm_out(of_part, logits, matrix);
      of_weight.add_(at::mm(logits.t(), part));
      if (bias.defined()) of_bias.add_(logits.sum(0, /*keepdim=*/false, torch::kFloat32));
    }
    if (need_gradients) context->save_for_backward({of_hidden, of_weight, of_bias});
    // Doubles: exact enough that the order of the sum cannot show.
    auto total = loss.to(torch::kFloat64).sum().to(torch::kFloat32);
    auto label_total = label_loss.to(torch::kFloat64).sum().to(torch::kFloat32);
    auto hits = correct.sum(torch::kInt64);
    context->mark_non_differentiable({label_total, hits});
    return {total, label_total, hits};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto scale = gradients[0].item<double>();  // on the CPU: no synchronisation
    const auto scaled = [&](const torch::Tensor& x) { return x.defined() ? x * scale : x; };
    return {scaled(saved[0]), scaled(saved[1]), scaled(saved[2]), {}, {}, {}, {}};
  }
};

// Takes the constant of each row that counts off the sum.
LossSums without_constant(LossSums sums, const torch::Tensor& labels, double constant) {
  if (constant != 0) sums.loss = sums.loss - constant * (labels >= 0).sum();
  return sums;
}

LossSums in_blocks(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                   const torch::Tensor& labels, const Smoothing& smoothing, const std::optional<PairLoss>& pair) {
  const bool need_gradients = torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const int64_t classes = weight.size(0);
  const auto sums = OutputCrossEntropy::apply(hidden, weight, optional_tensor(bias), labels,
                                              smoothing.rate_over_all(classes), pair, need_gradients);
  const double share_of_row = pair ? (pair->first + pair->second) / 2 : 1;
  return without_constant({sums[0], sums[1], sums[2]}, labels, share_of_row * smoothing.constant(classes));
}

torch::Tensor log_probabilities_of(const torch::Tensor& hidden, const torch::Tensor& weight,
                                   const torch::Tensor& bias) {
  auto logits = torch::matmul(hidden, weight.to(hidden.scalar_type()).t());
  if (bias.defined()) logits = logits + bias;
  return torch::log_softmax(logits, -1, torch::kFloat32);  // [rows, vocabulary]
}

LossSums plain_sums(const torch::Tensor& log_probabilities, const torch::Tensor& labels, const Smoothing& smoothing) {
  const auto counts = labels >= 0;
  const auto of_label = -log_probabilities.gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1) * counts;
  const auto of_all = -log_probabilities.mean(-1) * counts;
  const int64_t classes = log_probabilities.size(-1);
  const double rate = smoothing.rate_over_all(classes);
  return without_constant({((1 - rate) * of_label + rate * of_all).sum(), of_label.detach().sum(),
                           (log_probabilities.argmax(-1) == labels).sum()},
                          labels, smoothing.constant(classes));
}

}  // namespace

double Smoothing::rate_over_all(int64_t classes) const {
  if (form == SmoothingForm::kAll || classes < 2) return rate;
  return rate * static_cast<double>(classes) / static_cast<double>(classes - 1);
}

double Smoothing::constant(int64_t classes) const {
  if (form != SmoothingForm::kOthersNormalized || classes < 2) return 0;
  const double on_label = 1 - rate, on_other = rate / static_cast<double>(classes - 1);
  // 1e-20: the logarithm of the originals, which allow a rate of 0.
  return -(on_label * std::log(on_label) + rate * std::log(on_other + 1e-20));
}

LossSums output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                              const torch::Tensor& labels, const Smoothing& smoothing) {
  if (!has_cpu_kernel(hidden)) return plain_output_cross_entropy(hidden, weight, bias, labels, smoothing);
  return in_blocks(hidden, weight, bias, labels, smoothing, std::nullopt);
}

LossSums paired_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                     const torch::Tensor& bias, const torch::Tensor& labels, const Smoothing& smoothing,
                                     const PairLoss& pair) {
  TORCH_CHECK(hidden.size(0) % 2 == 0, "rows come in pairs");
  if (!has_cpu_kernel(hidden)) return plain_paired_output_cross_entropy(hidden, weight, bias, labels, smoothing, pair);
  return in_blocks(hidden, weight, bias, labels, smoothing, pair);
}

LossSums plain_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                    const torch::Tensor& labels, const Smoothing& smoothing) {
  return plain_sums(log_probabilities_of(hidden, weight, bias), labels, smoothing);
}

LossSums plain_paired_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                           const torch::Tensor& bias, const torch::Tensor& labels,
                                           const Smoothing& smoothing, const PairLoss& pair) {
  const auto pairs = log_probabilities_of(hidden, weight, bias).unflatten(0, {-1, 2});  // [pairs, 2, vocabulary]
  const auto p = pairs.select(1, 0), q = pairs.select(1, 1), of_pair = labels.unflatten(0, {-1, 2}).select(1, 0);
  auto sums = plain_sums(p, of_pair, smoothing);
  const auto counts = (of_pair >= 0).unsqueeze(-1), difference = (p - q) * counts;
  sums.loss = pair.first * sums.loss + pair.second * plain_sums(q, of_pair, smoothing).loss +
              pair.forward * (p.exp() * difference).sum() - pair.backward * (q.exp() * difference).sum();
  return sums;
}

}  // namespace nmt
