// What the device computes: memory and views here, all else by the operations of the CPU, on the memory of the device.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "simulated_device/streams.h"
#include "simulated_device/tensors.h"

namespace nmt::simulated {
namespace {

using Stack = torch::jit::Stack;

/// Work is below autograd and autocast.
struct BelowAutograd {
  at::AutoDispatchBelowADInplaceOrView below;
  c10::impl::ExcludeDispatchKeyGuard no_autocast{c10::autocast_dispatch_keyset};
};

/// The random numbers of the CPU's own generator are not touched, and begin as those of `generator` do.
class OtherNumbers {
 public:
  explicit OtherNumbers(const at::Generator& generator) : cpu_(at::detail::getDefaultCPUGenerator()) {
    const std::lock_guard lock(cpu_.mutex());
    before_ = cpu_.get_state();
    cpu_.set_state(generator.get_state());
  }
  ~OtherNumbers() {
    const std::lock_guard lock(cpu_.mutex());
    cpu_.set_state(before_);
  }
  OtherNumbers(const OtherNumbers&) = delete;

 private:
  at::Generator cpu_;
  at::Tensor before_;
};

/// What an operation's schema says, looked up once: a call would spend more time on that than on its work.
struct Facts {
  explicit Facts(const c10::OperatorHandle& op) : name(c10::toString(op.operator_name())) {
    static const std::set<std::string> also = {"aten::index_put_", "aten::_index_put_impl_", "aten::masked_fill_",
                                               "aten::fill_"};
    const auto& schema = op.schema();
    seeded = op.hasTag(at::Tag::nondeterministic_seeded);
    takes_numbers = op.hasTag(at::Tag::pointwise) || also.contains(schema.name());
    for (const auto& argument : schema.arguments()) {
      writes.push_back(argument.alias_info() && argument.alias_info()->isWrite());
      takes_generator.push_back(argument.type()->str().find("Generator") != std::string::npos);
    }
    asks = op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
    for (const auto& result : schema.returns()) {
      makes_results |= !result.alias_info();
      gives_views |= result.alias_info() && !result.alias_info()->isWrite();
      of_tensors &= result.type()->isSubtypeOf(*c10::TensorType::get()) ||
                    result.type()->isSubtypeOf(*c10::ListType::ofTensors());
    }
    const auto& base = schema.name();
    of_masks = base == "aten::index_put_" || base == "aten::_index_put_impl_" || base == "aten::index";
  }

  static const Facts& of(const c10::OperatorHandle& op) {
    thread_local std::unordered_map<const c10::FunctionSchema*, Facts> known;
    return known.try_emplace(&op.schema(), op).first->second;
  }

  std::string name;
  bool seeded = false;
  bool takes_numbers = false;  ///< a tensor of one number may be the host's
  bool asks = false;           ///< shapes depend on values
  bool of_masks = false;       ///< so they do here where a mask is given
  bool of_tensors = true;      ///< nothing but tensors comes back
  bool makes_results = false;
  bool gives_views = false;
  std::vector<bool> writes, takes_generator;  ///< of each argument
};

/// One call of an operation.
class Call {
 public:
  Call(const c10::OperatorHandle& op, Stack* stack)
      : op_(op), schema_(op.schema()), facts_(Facts::of(op)), name_(facts_.name), stack_(*stack) {
    const size_t count = schema_.arguments().size();
    given_.assign(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    seeded_ = facts_.seeded;
    for (size_t i = 0; i < count; ++i) convert(i);
    if (seeded_) numbers_ = next_generator();
  }

  void run() {
    TORCH_CHECK(!facts_.gives_views, "simulated device: no view by ", name_);
    std::vector<c10::IValue> results;
    if (asks_for_values()) {
      synchronise(name_);
      results = results_at_once();
    } else {
      results = results_later();
    }
    torch::jit::drop(stack_, given_.size());
    for (auto& result : results) stack_.push_back(std::move(result));
  }

 private:
  // Arguments -------------------------------------------------------------------------------------------------------

  void convert(size_t i) {
    const auto& value = given_[i];
    writes_argument_ = facts_.writes[i];
    if (value.isTensor()) return add(for_work(value.toTensor()), for_trial(value.toTensor()));
    if (value.isTensorList()) {
      c10::List<at::Tensor> work, trial;
      for (const at::Tensor& x : value.toTensorVector()) {
        work.push_back(for_work(x));
        trial.push_back(for_trial(x));
      }
      return add(work, trial);
    }
    if (value.isList() && value.toListRef().size() > 0 && value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> work, trial;
      for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector()) {
        work.push_back(x ? std::optional(for_work(*x)) : std::nullopt);
        trial.push_back(x ? std::optional(for_trial(*x)) : std::nullopt);
        if (x && x->defined() && (x->scalar_type() == at::kBool || x->scalar_type() == at::kByte)) has_mask_ = true;
      }
      return add(work, trial);
    }
    if (value.isDevice()) return add(c10::IValue(c10::Device(at::kCPU)), c10::IValue(c10::Device(at::kCPU)));
    if (facts_.takes_generator[i]) {
      std::optional<at::Generator> given;
      if (value.isGenerator()) given = value.toGenerator();
      const auto generator = next_generator(given);
      seeded_ = false;
      return add(c10::IValue(generator), c10::IValue(generator.clone()));
    }
    add(value, value);
  }

  template <typename T>
  void add(T work, T trial) {
    work_.emplace_back(std::move(work));
    trial_.emplace_back(std::move(trial));
  }

  at::Tensor for_work(const at::Tensor& x) {
    if (!x.defined()) return x;
    if (!is_ours(x)) return of_host(x);
    const auto block = block_of(x.storage());
    (writes_argument_ ? writes_ : reads_).push_back(block);
    if (writes_argument_ && schema_.is_mutable()) written_.push_back(x);
    return alias_of(x);
  }

  at::Tensor for_trial(const at::Tensor& x) {
    if (!x.defined() || !is_ours(x)) return x;
    // What is written must not be shared; an output without elements is made as large as it has to be.
    return writes_argument_ ? at::empty(x.sizes(), at::TensorOptions(x.scalar_type()).device(at::kCPU)) : dummy_of(x);
  }

  // A single number, as GPUs take it among the arguments of pointwise operations; its value of this moment.
  at::Tensor of_host(const at::Tensor& x) {
    TORCH_CHECK(x.device().is_cpu() && x.dim() == 0 && facts_.takes_numbers && !writes_argument_,
                "Expected all tensors to be on the same device, but ", name_, " got a tensor of ", x.device(), " ",
                x.sizes(), " beside one of ", device());
    auto copy = x.clone();
    copy.unsafeGetTensorImpl()->set_wrapped_number(x.unsafeGetTensorImpl()->is_wrapped_number());
    return copy;
  }

  // What comes back -------------------------------------------------------------------------------------------------

  bool asks_for_values() const {
    if (!facts_.of_tensors) return true;
    return facts_.of_masks ? has_mask_ : facts_.asks;
  }

  static void compute(const c10::OperatorHandle& op, Stack& stack, const std::optional<at::Generator>& numbers) {
    const BelowAutograd below;
    std::optional<OtherNumbers> others;
    if (numbers) others.emplace(*numbers);
    op.callBoxed(&stack);
  }

  static c10::IValue on_device(const c10::IValue& result) {
    const auto like = [](const at::Tensor& x) {
      return x.defined() ? empty_strided(x.sizes(), x.strides(), x.scalar_type()) : x;
    };
    if (result.isTensor()) return like(result.toTensor());
    if (!result.isTensorList()) return result;
    c10::List<at::Tensor> all;
    for (const at::Tensor& x : result.toTensorVector()) all.push_back(like(x));
    return all;
  }

  static std::vector<at::Tensor> tensors_of(const c10::IValue& value) {
    if (value.isTensor()) return {value.toTensor()};
    if (value.isTensorList()) return value.toTensorVector();
    return {};
  }

  /// The argument that a written result is.
  const c10::IValue& argument_of(const c10::Argument& result) const {
    for (size_t i = 0; i < given_.size(); ++i) {
      const auto* alias = schema_.arguments()[i].alias_info();
      if (alias && alias->beforeSets() == result.alias_info()->beforeSets()) return given_[i];
    }
    TORCH_CHECK(false, "simulated device: which argument does ", name_, " give back?");
  }

  std::vector<c10::IValue> results_at_once() {
    wait_for_stream(present_stream());
    Stack stack = work_;
    {
      const std::lock_guard lock(mutex());
      compute(op_, stack, numbers());
    }
    std::vector<c10::IValue> results;
    for (size_t i = 0; i < stack.size(); ++i) {
      if (schema_.returns()[i].alias_info()) {
        results.push_back(argument_of(schema_.returns()[i]));
        continue;
      }
      results.push_back(on_device(stack[i]));
      const auto values = tensors_of(stack[i]), places = tensors_of(results.back());
      for (size_t k = 0; k < values.size(); ++k)
        if (values[k].defined()) alias_of(places[k]).copy_(values[k]);
    }
    launch({name_, reads_, writes_, [] {}});  // so that its uses are in the books
    return results;
  }

  std::optional<at::Generator> numbers() const { return seeded_ ? std::optional(numbers_) : std::nullopt; }

  std::vector<c10::IValue> results_later() {
    std::vector<c10::IValue> results;
    std::vector<at::Tensor> places;
    const bool grows = std::ranges::any_of(written_, [](const auto& x) { return x.numel() == 0; });
    if (facts_.makes_results || grows) {
      Stack trial = trial_;
      compute(op_, trial, seeded_ ? std::optional(numbers_.clone()) : std::nullopt);
      if (grows) grow();
      for (size_t i = 0; i < trial.size(); ++i) {
        if (schema_.returns()[i].alias_info()) {
          results.push_back(argument_of(schema_.returns()[i]));
          places.emplace_back();
          continue;
        }
        results.push_back(on_device(trial[i]));
        for (const auto& x : tensors_of(results.back())) {
          places.push_back(x.defined() ? alias_of(x) : at::Tensor());
          if (x.defined()) writes_.push_back(block_of(x.storage()));
        }
      }
    } else {
      for (const auto& result : schema_.returns()) results.push_back(argument_of(result));
    }
    launch({name_, reads_, writes_,
            [op = op_, name = name_, work = work_, places = std::move(places), numbers = numbers()] {
              Stack stack = work;
              compute(op, stack, numbers ? std::optional(numbers->clone()) : std::nullopt);
              size_t place = 0;
              for (const auto& result : stack)
                for (const auto& x : tensors_of(result)) {
                  if (place < places.size() && places[place].defined()) places[place].copy_(x);
                  ++place;
                }
            }});
    return results;
  }

  /// Outputs that were given without elements: as large as in the trial.
  void grow() {
    for (size_t i = 0; i < given_.size(); ++i) {
      const auto* alias = schema_.arguments()[i].alias_info();
      if (!alias || !alias->isWrite() || !given_[i].isTensor() || !is_ours(given_[i].toTensor())) continue;
      const auto& output = given_[i].toTensor();
      if (output.numel() > 0 || trial_[i].toTensor().numel() == 0) continue;
      output.resize_(trial_[i].toTensor().sizes());
      work_[i] = alias_of(output);
      writes_.push_back(block_of(output.storage()));
    }
  }

  c10::OperatorHandle op_;
  const c10::FunctionSchema& schema_;
  const Facts& facts_;
  const std::string& name_;
  Stack& stack_;
  std::vector<c10::IValue> given_;
  Stack work_, trial_;  // the arguments as tensors of the CPU: the real ones, and some to try the operation on
  std::vector<BlockPointer> reads_, writes_;
  std::vector<at::Tensor> written_;
  at::Generator numbers_;
  bool writes_argument_ = false, has_mask_ = false, seeded_ = false;
};

void by_cpu(const c10::OperatorHandle& op, Stack* stack) { Call(op, stack).run(); }

// Memory, views -------------------------------------------------------------------------------------------------------

at::Tensor empty_memory_format(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                               std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat>) {
  return empty(sizes, type.value_or(at::get_default_dtype_as_scalartype()));
}

at::Tensor empty_strided_sizes(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                               std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return empty_strided(sizes, strides, type.value_or(at::get_default_dtype_as_scalartype()));
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  const auto count = static_cast<size_t>(c10::multiply_integers(sizes));
  const size_t bytes = (count + static_cast<size_t>(self.storage_offset())) * self.itemsize();
  if (bytes > self.storage().nbytes()) {
    TORCH_CHECK(self.numel() == 0, "simulated device: a tensor with numbers cannot grow");
    self.storage().set_data_ptr_noswap(device_allocator().allocate(bytes));
    self.storage().set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return self;
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  block_of(self.storage())->recorded.insert(static_cast<int>(stream.id()));
}

at::Scalar value_of(const at::Tensor& self) {
  launch({"aten::item", {block_of(self.storage())}, {}, [] {}});
  synchronise("aten::item");
  return alias_of(self).item();
}

// Copies --------------------------------------------------------------------------------------------------------------

// Whether it copies as a GPU does: the same type, and bytes that lie in the same order.
bool is_plain_copy(const at::Tensor& from, const at::Tensor& to) {
  return from.scalar_type() == to.scalar_type() && from.is_contiguous() && to.is_contiguous() &&
         from.sizes() == to.sizes();
}

void launch_copy(const std::string& name, const at::Tensor& from, const at::Tensor& to) {
  launch({name, {block_of(from.storage())}, {block_of(to.storage())}, [from = alias_of(from), to = alias_of(to)] {
            const BelowAutograd below;
            to.copy_(from);
          }});
}

void to_device(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const auto pinned = block_of(from.storage());
  if (non_blocking && pinned && is_plain_copy(from, to)) return launch_copy("a copy to the device", from, to);
  synchronise(!non_blocking ? "a copy to the device that is waited for"
              : !pinned     ? "a copy to the device from memory that is not pinned"
                            : "a copy to the device that changes its type or order");
  launch({"a copy to the device", {}, {block_of(to.storage())}, [from = from.clone(), to = alias_of(to)] {
            const BelowAutograd below;
            to.copy_(from);
          }});
  wait_for_stream(present_stream());
}

void to_host(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const auto pinned = block_of(to.storage());
  if (non_blocking && pinned && is_plain_copy(from, to)) return launch_copy("a copy to the host", from, to);
  launch({"a copy to the host", {block_of(from.storage())}, {}, [] {}});
  synchronise(!non_blocking ? "a copy to the host that is waited for"
              : !pinned     ? "a copy to the host into memory that is not pinned"
                            : "a copy to the host that changes its type or order");
  const BelowAutograd below;
  const std::lock_guard lock(mutex());
  to.copy_(alias_of(from));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (to.numel() == 0) return to;
  const BelowAutograd below;
  if (is_ours(from) && is_ours(to))
    launch_copy("aten::copy_", from, to);
  else if (is_ours(to))
    to_device(from, to, non_blocking);
  else
    to_host(from, to, non_blocking);
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&by_cpu>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty_memory_format);
  library.impl("empty_strided", &empty_strided_sizes);
  library.impl("resize_", &resize);
  library.impl("view", &at::native::view);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("record_stream", &record_stream);
  library.impl("_local_scalar_dense", &value_of);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
}

}  // namespace
}  // namespace nmt::simulated
