#include "nn/cpu_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace nmt {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallest = 1 << 12;  // below, the system's allocator is quick enough

size_t size_class(size_t bytes) {
  if (bytes <= kSmallest) return bytes;
  const size_t step = std::bit_ceil(bytes) / 16;  // an eighth of the power of two below
  return (bytes + step - 1) / step * step;
}

// Stands in front of every block.
struct alignas(kAlignment) Header {
  size_t bytes;
};

class ReusingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* data = take(size_class(bytes));
    return {data, data, &give_back, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  int64_t bytes() const { return total_; }

  static ReusingAllocator& instance() {
    static auto* allocator = new ReusingAllocator;  // never destroyed: tensors may outlive everything
    return *allocator;
  }

 private:
  void* take(size_t bytes) {
    if (bytes > kSmallest) {
      const std::lock_guard lock(mutex_);
      auto& kept = kept_[bytes];
      if (!kept.empty()) {
        void* data = kept.back();
        kept.pop_back();
        return data;
      }
    }
    void* block = obtain(bytes);
    if (!block) {
      release_kept();
      block = obtain(bytes);
    }
    if (!block) throw std::bad_alloc();
    total_ += static_cast<int64_t>(bytes);
    static_cast<Header*>(block)->bytes = bytes;
    return static_cast<Header*>(block) + 1;
  }

  static void* obtain(size_t bytes) {
    void* block = nullptr;
    return posix_memalign(&block, kAlignment, bytes + sizeof(Header)) == 0 ? block : nullptr;
  }

  static void give_back(void* data) {
    if (!data) return;
    auto& self = instance();
    const size_t bytes = (static_cast<Header*>(data) - 1)->bytes;
    if (bytes <= kSmallest) return self.release(data);
    const std::lock_guard lock(self.mutex_);
    self.kept_[bytes].push_back(data);
  }

  void release(void* data) {
    auto* header = static_cast<Header*>(data) - 1;
    total_ -= static_cast<int64_t>(header->bytes);
    std::free(header);
  }

  void release_kept() {
    const std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : kept_) {
      for (void* data : blocks) release(data);
      blocks.clear();
    }
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> kept_;
  std::atomic<int64_t> total_ = 0;
};

std::atomic<bool> in_use = false;

}  // namespace

void reuse_freed_tensors() {
  if (in_use.exchange(true)) return;
  c10::SetCPUAllocator(&ReusingAllocator::instance(), /*priority=*/100);
}

int64_t tensor_bytes() { return in_use ? ReusingAllocator::instance().bytes() : 0; }

}  // namespace nmt
