#include "nn/layers/recurrent_linear.h"

#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Arguments and gradients of the products of one layer, gathered on the way back.
struct Gathered : torch::CustomClassHolder {
  std::vector<torch::Tensor> inputs, gradients;  // [rows, in], [rows, out] of each step
};
using GatheredPtr = c10::intrusive_ptr<Gathered>;

GatheredPtr gathered_of(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Gathered>(context->saved_data["gathered"].toCapsule());
}

/// The weight in the type of the products. Its gradient arrives through `gathered`, not through autograd: this node
/// runs after all steps, which depend on it.
struct SharedWeight : torch::autograd::Function<SharedWeight> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias, at::ScalarType type,
                               const GatheredPtr& gathered) {
    context->set_materialize_grads(false);
    context->saved_data["gathered"] = c10::IValue::make_capsule(gathered);
    context->saved_data["bias"] = bias.has_value();
    return weight.detach().to(type);
  }
  static variable_list backward(AutogradContext* context, variable_list) {
    const auto gathered = gathered_of(context);
    if (gathered->inputs.empty()) return {{}, {}, {}, {}};
    const auto inputs = torch::cat(gathered->inputs), gradients = torch::cat(gathered->gradients);
    gathered->inputs.clear();
    gathered->gradients.clear();
    const auto of_weight = gradients.t().mm(inputs).to(torch::kFloat32);
    if (!context->saved_data["bias"].toBool()) return {of_weight, {}, {}, {}};
    return {of_weight, gradients.sum(0, /*keepdim=*/false, torch::kFloat32), {}, {}};
  }
};

struct StepMultiply : torch::autograd::Function<StepMultiply> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias, const GatheredPtr& gathered) {
    context->save_for_backward({x, weight});
    context->saved_data["gathered"] = c10::IValue::make_capsule(gathered);
    return at::linear(x, weight, bias);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].flatten(0, -2);
    const auto gathered = gathered_of(context);
    gathered->inputs.push_back(saved[0].flatten(0, -2));
    gathered->gradients.push_back(gradient);
    return {gradient.mm(saved[1]).view(saved[0].sizes()), torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

/// One layer while StepwiseGradients lives.
class GatheringProduct final : public LinearImpl::Product {
 public:
  GatheringProduct(const LinearImpl& layer, at::ScalarType type)
      : weight_(SharedWeight::apply(layer.weight, bias_of(layer), type, gathered_)) {
    if (layer.bias.defined()) bias_ = layer.bias.detach().to(type);
  }
  torch::Tensor multiply(const torch::Tensor& x) override { return StepMultiply::apply(x, weight_, bias_, gathered_); }

 private:
  static std::optional<torch::Tensor> bias_of(const LinearImpl& layer) {
    return layer.bias.defined() ? std::optional(layer.bias) : std::nullopt;
  }

  GatheredPtr gathered_ = c10::make_intrusive<Gathered>();
  torch::Tensor weight_;
  std::optional<torch::Tensor> bias_;
};

}  // namespace

StepwiseGradients::StepwiseGradients(torch::nn::Module& module, at::ScalarType type) {
  if (!torch::GradMode::is_enabled()) return;
  for (const auto& part : module.modules())
    if (auto layer = std::dynamic_pointer_cast<LinearImpl>(part)) {
      layer->replace_product(std::make_unique<GatheringProduct>(*layer, type));
      layers_.push_back(std::move(layer));
    }
}

StepwiseGradients::~StepwiseGradients() {
  for (const auto& layer : layers_) layer->replace_product(nullptr);
}

}  // namespace nmt
