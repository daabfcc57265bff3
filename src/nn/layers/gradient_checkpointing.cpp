#include "nn/layers/gradient_checkpointing.h"

#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the operations of a device draw from next; the CPU's kernels draw by the keys of the pass alone.
class DeviceRandomState {
 public:
  explicit DeviceRandomState(torch::Device device) : device_(device) {
    if (device.is_cpu()) return;
    auto generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    state_ = generator.get_state();
  }
  void restore() const {
    if (device_.is_cpu()) return;
    auto generator = at::globalContext().defaultGenerator(device_);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state_);
  }

 private:
  torch::Device device_;
  torch::Tensor state_;
};

/// All that it takes to run a part once more.
struct Part {
  PartOfModel run;
  ForwardContext pass;  // as it was before the first time
  DeviceRandomState random;
  size_t inputs;  // the other tensors of the node are parameters
};

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  // With gradients asked for, as without a checkpoint: other kernels compute what wants none. What they save is freed
  // when the part's own graph is left here.
  static variable_list forward(AutogradContext* context, at::TensorList inputs_and_parameters,
                               const std::shared_ptr<const Part>& part, ForwardContext* pass) {
    context->set_materialize_grads(false);
    context->save_for_backward(inputs_and_parameters.vec());
    context->saved_data["part"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(part));
    variable_list inputs;
    for (const auto& input : inputs_and_parameters.slice(0, part->inputs))
      inputs.push_back(input.detach().requires_grad_(input.requires_grad()));
    const torch::AutoGradMode gradients(true);
    variable_list outputs;
    for (const auto& output : part->run(inputs, *pass)) outputs.push_back(output.variable_data());
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder = c10::static_intrusive_pointer_cast<Holder>(context->saved_data["part"].toCapsule());
    const Part& part = *holder->part;
    const auto saved = context->get_saved_variables();
    variable_list inputs, wanted;
    std::vector<size_t> places;  // of what is wanted among all that entered
    for (size_t i = 0; i < saved.size(); ++i) {
      const bool wants_gradient = context->needs_input_grad(i);
      const auto tensor = i < part.inputs ? saved[i].detach().requires_grad_(wants_gradient) : saved[i];
      if (i < part.inputs) inputs.push_back(tensor);
      if (!wants_gradient) continue;
      wanted.push_back(tensor);
      places.push_back(i);
    }
    variable_list result(saved.size() + 2);  // the last two are no tensors
    variable_list outputs, of_outputs;
    {
      const DeviceRandomState now(saved.front().device());
      part.random.restore();
      ForwardContext pass = part.pass;
      const torch::AutoGradMode with_gradients(true);
      auto all = part.run(inputs, pass);
      for (size_t i = 0; i < all.size(); ++i) {
        if (!gradients[i].defined() || !all[i].requires_grad()) continue;
        outputs.push_back(std::move(all[i]));
        of_outputs.push_back(std::move(gradients[i]));
      }
      now.restore();
    }
    if (outputs.empty()) return result;
    auto found = torch::autograd::grad(outputs, wanted, of_outputs, /*retain_graph=*/std::nullopt,
                                       /*create_graph=*/false, /*allow_unused=*/true);
    for (size_t i = 0; i < places.size(); ++i) result[places[i]] = std::move(found[i]);
    return result;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<const Part> part) : part(std::move(part)) {}
    std::shared_ptr<const Part> part;
  };
};

}  // namespace

std::vector<torch::Tensor> checkpointed(const PartOfModel& part, const std::vector<torch::Tensor>& inputs,
                                        const std::vector<torch::Tensor>& parameters, ForwardContext& pass) {
  if (!torch::GradMode::is_enabled() || !pass.training()) return part(inputs, pass);
  auto entering = inputs;
  for (const auto& parameter : parameters)
    if (parameter.requires_grad()) entering.push_back(parameter);
  const auto kept = std::make_shared<const Part>(
      Part{.run = part, .pass = pass, .random = DeviceRandomState(inputs.front().device()), .inputs = inputs.size()});
  return Checkpoint::apply(at::TensorList(entering), kept, &pass);
}

void set_gradient_checkpointing(torch::nn::Module& model, bool on, int64_t blocks) {
  if (auto* can = dynamic_cast<CanCheckpoint*>(&model)) can->set_checkpointing(on);
  for (const auto& module : model.named_modules("", /*include_self=*/false)) {
    auto* const can = dynamic_cast<CanCheckpoint*>(module.value().get());
    if (!can) continue;
    const std::string& name = module.key();
    int64_t number = 0;
    const auto* const digits = name.data() + name.find_last_not_of("0123456789") + 1;
    std::from_chars(digits, name.data() + name.size(), number);
    can->set_checkpointing(on && (blocks == 0 || number < blocks));
  }
}

}  // namespace nmt
