#include "simulated_device/tensors.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/TensorUtils.h>

#include <map>

#include "simulated_device/streams.h"

namespace nmt::simulated {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

/// A seed and how often numbers were drawn, as of a GPU: each launch has numbers of its own, whenever it runs.
class Generator final : public c10::GeneratorImpl {
 public:
  Generator() : c10::GeneratorImpl(device(), kKeys) {}
  void set_current_seed(uint64_t seed) override { seed_ = seed, draws_ = 0; }
  void set_offset(uint64_t offset) override { draws_ = offset; }
  uint64_t get_offset() const override { return draws_; }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return seed_;
  }
  void set_state(const c10::TensorImpl& state) override {
    const auto* values = static_cast<const int64_t*>(state.data());
    seed_ = static_cast<uint64_t>(values[0]), draws_ = static_cast<uint64_t>(values[1]);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return at::tensor({static_cast<int64_t>(seed_), static_cast<int64_t>(draws_)}, at::kLong).getIntrusivePtr();
  }
  uint64_t draw() {
    uint64_t x = seed_ + 0x9E3779B97F4A7C15ULL * ++draws_;  // SplitMix64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

 protected:
  Generator* clone_impl() const override {
    auto* copy = new Generator;
    copy->seed_ = seed_, copy->draws_ = draws_;
    return copy;
  }

 private:
  uint64_t seed_ = c10::default_rng_seed_val, draws_ = 0;
};

at::Tensor over(const c10::Storage& storage, c10::DispatchKeySet keys, const at::Tensor& like) {
  auto alias = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys, like.dtype());
  alias.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  return alias;
}

}  // namespace

at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type) {
  return at::detail::empty_generic(sizes, &device_allocator(), kKeys, type, std::nullopt);
}
at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type) {
  return at::detail::empty_strided_generic(sizes, strides, &device_allocator(), kKeys, type);
}

at::Tensor alias_of(const at::Tensor& x) {
  const auto block = block_of(x.storage());
  TORCH_CHECK(block, "a tensor without memory of the simulated device");
  return over(block->storage, c10::DispatchKeySet(c10::DispatchKey::CPU), x);
}

at::Tensor dummy_of(const at::Tensor& x) {
  static auto* ones = new std::map<at::ScalarType, at::Tensor>;
  const std::lock_guard lock(mutex());
  int64_t extent = 1;
  for (int64_t i = 0; i < x.dim(); ++i) extent += x.size(i) > 0 ? (x.size(i) - 1) * x.stride(i) : 0;
  auto& storage = (*ones)[x.scalar_type()];
  if (!storage.defined() || storage.numel() < extent) {
    const int value = at::isFloatingType(x.scalar_type()) ? 1 : 0;
    storage = at::full({2 * extent}, value, at::TensorOptions(x.scalar_type()).device(at::kCPU));
  }
  return storage.as_strided(x.sizes(), x.strides());
}

bool is_ours(const at::Tensor& x) { return x.defined() && x.device().type() == at::kPrivateUse1; }

const at::Generator& default_generator() {
  static auto* generator = new at::Generator(at::make_generator<Generator>());
  return *generator;
}

at::Generator next_generator(const std::optional<at::Generator>& generator) {
  auto* own = static_cast<Generator*>(
      (generator && generator->defined() ? *generator : default_generator()).unsafeGetGeneratorImpl());
  const std::lock_guard lock(own->mutex_);
  return at::detail::createCPUGenerator(own->draw());
}

at::Generator new_generator() { return at::make_generator<Generator>(); }

}  // namespace nmt::simulated
