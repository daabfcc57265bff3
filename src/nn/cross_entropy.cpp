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

// Gradients are of the sum of the rows' losses and are made together with the losses; backward only scales them.
struct OutputCrossEntropy : torch::autograd::Function<OutputCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden_in, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& optional_bias, const torch::Tensor& labels_in,
                               double rate, bool need_gradients) {
    const auto bias = optional_bias.value_or(torch::Tensor());
    const auto hidden = hidden_in.contiguous();
    const auto labels = labels_in.contiguous();
    const auto matrix = weight.to(hidden.scalar_type());  // [vocabulary, model]
    const int64_t rows = hidden.size(0), classes = matrix.size(0);
    const int64_t block =
        std::clamp<int64_t>(kBlockElements / std::max<int64_t>(classes, 1), 64, std::max<int64_t>(rows, 64));

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
      const auto type = kernel_type(logits);
      at::parallel_for(0, n, 16,
                       [&](int64_t first, int64_t last) { kernels::kernels().cross_entropy(type, task, first, last); });
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
    return {scaled(saved[0]), scaled(saved[1]), scaled(saved[2]), {}, {}, {}};
  }
};

// Takes the constant of each row that counts off the sum.
LossSums without_constant(LossSums sums, const torch::Tensor& labels, double constant) {
  if (constant != 0) sums.loss = sums.loss - constant * (labels >= 0).sum();
  return sums;
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
  const bool need_gradients = torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const int64_t classes = weight.size(0);
  const auto sums = OutputCrossEntropy::apply(hidden, weight, optional_tensor(bias), labels,
                                              smoothing.rate_over_all(classes), need_gradients);
  return without_constant({sums[0], sums[1], sums[2]}, labels, smoothing.constant(classes));
}

LossSums plain_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                    const torch::Tensor& labels, const Smoothing& smoothing) {
  auto logits = torch::matmul(hidden, weight.to(hidden.scalar_type()).t());
  if (bias.defined()) logits = logits + bias;
  const auto log_probabilities = torch::log_softmax(logits, -1, torch::kFloat32);  // [rows, vocabulary]
  const auto counts = labels >= 0;
  const auto of_label = -log_probabilities.gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1) * counts;
  const auto of_all = -log_probabilities.mean(-1) * counts;
  const int64_t classes = weight.size(0);
  const double rate = smoothing.rate_over_all(classes);
  return without_constant({((1 - rate) * of_label + rate * of_all).sum(), of_label.detach().sum(),
                           (log_probabilities.argmax(-1) == labels).sum()},
                          labels, smoothing.constant(classes));
}

}  // namespace nmt
