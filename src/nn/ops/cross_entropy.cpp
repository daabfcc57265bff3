#include "nn/ops/cross_entropy.h"

#include <ATen/Parallel.h>
#include <ATen/ops/addcmul.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "nn/device/cpu_kernels.h"
#include "nn/ops/linear.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits held at once, in elements: big enough for fast products, small enough for caches and memory.
constexpr int64_t kBlockElements = 8 << 20;
constexpr int64_t kBlockElementsOfGpu = 64 << 20;

/// Some rows of logits, and where their sums go: [rows] each.
struct Block {
  torch::Tensor logits;  ///< [rows, vocabulary]; they become their gradient where one is wanted
  torch::Tensor labels, loss, label_loss, correct;
  double smoothing;  ///< over all classes
  bool need_gradients;
};

// Runs the CPU's kernels: the loss of each row, or, in the rows of p, of each pair of neighbours.
void run_kernel(const Block& block, const std::optional<PairLoss>& pair) {
  const auto type = kernel_type(block.logits);
  const std::span<const int64_t> labels(block.labels.const_data_ptr<int64_t>(), block.labels.numel());
  const bool all_fit = labels.empty() || std::ranges::max(labels) < block.logits.size(1);
  TORCH_CHECK(all_fit, "a label is beyond the vocabulary of ", block.logits.size(1), " pieces");
  const kernels::CrossEntropyRows task{.logits = block.logits.mutable_data_ptr(),
                                       .rows = block.logits.size(0),
                                       .classes = block.logits.size(1),
                                       .labels = block.labels.const_data_ptr<int64_t>(),
                                       .smoothing = static_cast<float>(block.smoothing),
                                       .write_gradient = block.need_gradients,
                                       .gradient_scale = 1,
                                       .loss = block.loss.mutable_data_ptr<float>(),
                                       .label_loss = block.label_loss.mutable_data_ptr<float>(),
                                       .correct = block.correct.mutable_data_ptr<uint8_t>()};
  if (!pair)
    return at::parallel_for(0, task.rows, 16, [&](int64_t first, int64_t last) {
      kernels::kernels().cross_entropy(type, task, first, last);
    });
  at::parallel_for(0, task.rows / 2, 8, [&](int64_t first, int64_t last) {
    kernels::kernels().cross_entropy_pairs(type, task, *pair, first, last);
  });
}

/// Smoothed cross-entropy of rows of log-probabilities, by tensor operations. Labels below 0: rows that do not count.
struct RowLosses {
  RowLosses(const torch::Tensor& log_probabilities, const torch::Tensor& labels, double smoothing)
      : counts((labels >= 0).unsqueeze(-1)), label(labels.clamp_min(0).unsqueeze(-1)), smoothing(smoothing) {
    label_loss = -log_probabilities.gather(-1, label) * counts;
    loss = (1 - smoothing) * label_loss - smoothing * log_probabilities.mean(-1, true) * counts;
    correct = log_probabilities.argmax(-1) == labels;
  }
  /// The gradient by the logits, given probabilities [rows, vocabulary].
  torch::Tensor gradient(const torch::Tensor& probabilities) const {
    auto of_logits = torch::empty_like(probabilities);
    write_gradient(probabilities.clone(), of_logits);
    return of_logits;
  }
  /// The same into `of_logits`, of any type, in one pass over it; uses `probabilities` up.
  void write_gradient(torch::Tensor probabilities, torch::Tensor& of_logits) const {
    probabilities.scatter_add_(-1, label, torch::full_like(label, -(1 - smoothing), probabilities.options()));
    const auto factor = counts.to(probabilities.scalar_type());
    const auto of_each = factor * (-smoothing / static_cast<double>(probabilities.size(-1)));
    at::addcmul_out(of_logits, of_each, probabilities, factor);
  }

  torch::Tensor counts, label;     // [rows, 1]
  torch::Tensor loss, label_loss;  // [rows, 1]
  torch::Tensor correct;           // [rows]
  double smoothing;
};

// The same by tensor operations: any device and type.
void run_operations(const Block& block, const std::optional<PairLoss>& pair) {
  auto log_probabilities = torch::log_softmax(block.logits, -1, block.loss.scalar_type());
  if (!pair) {
    const RowLosses rows(log_probabilities, block.labels, block.smoothing);
    block.loss.copy_(rows.loss.squeeze(-1));
    block.label_loss.copy_(rows.label_loss.squeeze(-1));
    block.correct.copy_(rows.correct);
    auto logits = block.logits;
    if (block.need_gradients) rows.write_gradient(log_probabilities.exp_(), logits);
    return;
  }
  const auto side = [](const torch::Tensor& x, int64_t which) { return x.unflatten(0, {-1, 2}).select(1, which); };
  const auto log_p = side(log_probabilities, 0), log_q = side(log_probabilities, 1);
  const auto labels = side(block.labels, 0);
  const RowLosses of_p(log_p, labels, block.smoothing), of_q(log_q, labels, block.smoothing);
  const auto p = log_p.exp(), q = log_q.exp(), ratio = (log_p - log_q).mul_(of_p.counts);
  const auto forward = (p * ratio).sum(-1, true), backward = -(q * ratio).sum(-1, true);  // KL(p‖q), KL(q‖p)
  const auto put = [&](const torch::Tensor& to, const torch::Tensor& values) {
    side(to, 0).copy_(values);
    side(to, 1).zero_();
  };
  const auto loss =
      pair->first * of_p.loss + pair->second * of_q.loss + pair->forward * forward + pair->backward * backward;
  put(block.loss, loss.squeeze(-1));
  put(block.label_loss, of_p.label_loss.squeeze(-1));
  put(block.correct, of_p.correct);
  if (!block.need_gradients) return;
  // Gradients by the logits of p: KL(p‖q) gives p (log p - log q - KL(p‖q)), KL(q‖p) gives p - q; for those of q the
  // other way.
  const auto difference = (p - q).mul_(of_p.counts);
  side(block.logits, 0)
      .copy_(pair->first * of_p.gradient(p) + pair->forward * p * (ratio - forward) + pair->backward * difference);
  side(block.logits, 1)
      .copy_(pair->second * of_q.gradient(q) - pair->forward * difference - pair->backward * q * (ratio + backward));
}

// The products with the output layer's weight [vocabulary, model], by the kernels of training where they take it.
class OutputProducts {
 public:
  OutputProducts(const torch::Tensor& hidden, const torch::Tensor& weight, bool need_gradients) {
    // forward() of a function runs without gradients: whether they are wanted was asked before.
    const torch::AutoGradMode gradients(need_gradients);
    if (has_training_kernel(hidden, weight)) {
      panels_ = pack_weights({weight}, hidden.scalar_type());
      transposed_ = pack_transposed_weights({weight}, hidden.scalar_type());
    } else {
      matrix_ = weight.detach().to(hidden.scalar_type());
    }
  }
  void multiply(const torch::Tensor& hidden, const torch::Tensor& bias, torch::Tensor& logits) const {
    if (!matrix_.defined()) return multiply_panels(hidden, panels_, bias, logits);
    at::mm_out(logits, hidden, matrix_.t());
    if (bias.defined()) logits.add_(bias);
  }
  void multiply_back(const torch::Tensor& of_logits, torch::Tensor& of_hidden) const {
    if (!matrix_.defined()) return multiply_panels(of_logits, transposed_, {}, of_hidden);
    at::mm_out(of_hidden, of_logits, matrix_);
  }
  void add_gradient(const torch::Tensor& hidden, const torch::Tensor& of_logits, torch::Tensor& of_weight,
                    torch::Tensor& of_bias) const {
    if (!matrix_.defined()) return add_training_gradient(hidden, of_logits, of_weight, of_bias);
    of_weight.add_(at::mm(of_logits.t(), hidden));
    if (of_bias.defined()) of_bias.add_(of_logits.sum(0, /*keepdim=*/false, of_bias.scalar_type()));
  }

 private:
  torch::Tensor panels_, transposed_;  // packed, or
  torch::Tensor matrix_;               // [vocabulary, model]
};

/// The share of a teacher in the loss of a block and its gradient.
class TaughtBlock {
 public:
  // probabilities: the teacher's, [rows, vocabulary], in the type of the losses; used up. To be made while the block
  // still has its logits z: -sum_v t_v log p_v = log sum_v exp z_v - sum_v t_v z_v, and the loss of the label has the
  // logarithm, too.
  TaughtBlock(torch::Tensor probabilities, const Block& block, double share)
      : probabilities_(std::move(probabilities)),
        counts_((block.labels >= 0).unsqueeze(-1).to(probabilities_.scalar_type())),
        label_(block.labels.clamp_min(0).unsqueeze(-1)),
        share_(share),
        label_minus_mean_(block.logits.gather(-1, label_).to(probabilities_.scalar_type()) -
                          (probabilities_ * block.logits).sum(-1, /*keepdim=*/true)) {}

  // Once the block has losses, and the gradient p - q of those that count in place of its logits.
  void add_to(const Block& block) {
    const auto of_teacher = (block.label_loss.unsqueeze(-1) + label_minus_mean_) * counts_;  // [rows, 1]
    block.loss.mul_(1 - share_).add_(of_teacher.squeeze(-1), share_);
    if (!block.need_gradients) return;
    // p - ((1 - share) q + share t): what is added is share (q - t).
    const auto of_each = counts_ * (share_ * block.smoothing / static_cast<double>(probabilities_.size(-1)));
    auto added = probabilities_.mul_(counts_ * -share_).add_(of_each);
    added.scatter_add_(-1, label_, counts_ * (share_ * (1 - block.smoothing)));
    block.logits.add_(added);
  }

 private:
  torch::Tensor probabilities_, counts_, label_;  // [rows, vocabulary], [rows, 1], [rows, 1]
  double share_;
  torch::Tensor label_minus_mean_;  // [rows, 1]: the label's logit less the mean of all under the teacher
};

// Gradients are of the sum of the rows' losses and are made together with the losses; backward only scales them.
struct OutputCrossEntropy : torch::autograd::Function<OutputCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden_in, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& optional_bias, const torch::Tensor& labels_in,
                               double rate, const std::optional<PairLoss>& pair,
                               const std::optional<TeacherRows>& teacher, bool need_gradients) {
    const auto bias = optional_bias.value_or(torch::Tensor());
    const auto hidden = hidden_in.contiguous();
    const auto labels = labels_in.contiguous();
    const int64_t rows = hidden.size(0), classes = weight.size(0);
    const OutputProducts products(hidden, weight, need_gradients);
    std::optional<OutputProducts> teacher_products;
    if (teacher) teacher_products.emplace(teacher->hidden, teacher->weight, /*need_gradients=*/false);
    const int64_t elements = hidden.is_cpu() ? kBlockElements : kBlockElementsOfGpu;
    const int64_t fitting = elements / std::max<int64_t>(classes, 1) / 2 * 2;  // whole pairs
    const int64_t length = std::clamp<int64_t>(fitting, 64, std::max<int64_t>(rows, 64));
    const auto exact = hidden.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;

    auto loss = torch::empty({rows}, hidden.options().dtype(exact));
    auto label_loss = torch::empty_like(loss);
    auto correct = torch::empty({rows}, labels.options().dtype(torch::kUInt8));
    auto logits_buffer = torch::empty({std::min(length, rows), classes}, hidden.options());
    torch::Tensor of_hidden, of_weight, of_bias;
    if (need_gradients) {
      of_hidden = torch::empty_like(hidden);
      of_weight = torch::zeros({classes, hidden.size(1)}, loss.options());
      if (bias.defined()) of_bias = torch::zeros({classes}, loss.options());
    }
    for (int64_t begin = 0; begin < rows; begin += length) {
      const int64_t n = std::min(length, rows - begin);
      const auto rows_of = [&](const torch::Tensor& x) { return x.narrow(0, begin, n); };
      auto logits = logits_buffer.narrow(0, 0, n);
      const auto part = rows_of(hidden);
      products.multiply(part, bias, logits);
      const Block block{.logits = logits,
                        .labels = rows_of(labels),
                        .loss = rows_of(loss),
                        .label_loss = rows_of(label_loss),
                        .correct = rows_of(correct),
                        .smoothing = rate,
                        .need_gradients = need_gradients};
      std::optional<TaughtBlock> taught;
      if (teacher) {
        auto of_teacher = torch::empty({n, classes}, teacher->hidden.options());
        teacher_products->multiply(rows_of(teacher->hidden), teacher->bias, of_teacher);
        taught.emplace(torch::softmax(of_teacher, -1, exact), block, teacher->share);
      }
      if (has_cpu_kernel(logits))
        run_kernel(block, pair);
      else
        run_operations(block, pair);
      if (taught) taught->add_to(block);
      if (!need_gradients) continue;
      auto of_part = rows_of(of_hidden);
      products.multiply_back(logits, of_part);
      products.add_gradient(part, logits, of_weight, of_bias);
    }
    if (need_gradients) context->save_for_backward({of_hidden, of_weight, of_bias});
    // Doubles: exact enough that the order of the sum cannot show.
    auto total = loss.to(torch::kFloat64).sum().to(exact);
    auto label_total = label_loss.to(torch::kFloat64).sum().to(exact);
    auto hits = correct.sum(torch::kInt64);
    context->mark_non_differentiable({label_total, hits});
    return {total, label_total, hits};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& scale = gradients[0];  // a number on the CPU; a GPU is not waited for
    const auto scaled = [&](const torch::Tensor& x) {
      if (!x.defined()) return x;
      if (scale.is_cpu()) return x * scale.item<double>();
      return (x.to(scale.scalar_type()) * scale).to(x.scalar_type());  // in float: 1 / tokens has more digits than bf16
    };
    return {scaled(saved[0]), scaled(saved[1]), scaled(saved[2]), {}, {}, {}, {}, {}};
  }
};

// Takes the constant of each row that counts off the sum.
LossSums without_constant(LossSums sums, const torch::Tensor& labels, double constant) {
  if (constant != 0) sums.loss = sums.loss - constant * (labels >= 0).sum();
  return sums;
}

LossSums in_blocks(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                   const torch::Tensor& labels, const Smoothing& smoothing, const std::optional<PairLoss>& pair,
                   const std::optional<TeacherRows>& teacher = {}) {
  const bool need_gradients = torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const int64_t classes = weight.size(0);
  const auto sums = OutputCrossEntropy::apply(hidden, weight, optional_tensor(bias), labels,
                                              smoothing.rate_over_all(classes), pair, teacher, need_gradients);
  const double share_of_row = pair ? (pair->first + pair->second) / 2 : teacher ? 1 - teacher->share : 1;
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
  return in_blocks(hidden, weight, bias, labels, smoothing, std::nullopt);
}

LossSums paired_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                     const torch::Tensor& bias, const torch::Tensor& labels, const Smoothing& smoothing,
                                     const PairLoss& pair) {
  TORCH_CHECK(hidden.size(0) % 2 == 0, "rows come in pairs");
  return in_blocks(hidden, weight, bias, labels, smoothing, pair);
}

LossSums distilled_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                        const torch::Tensor& bias, const torch::Tensor& labels,
                                        const Smoothing& smoothing, const TeacherRows& teacher) {
  return in_blocks(hidden, weight, bias, labels, smoothing, std::nullopt, teacher);
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
