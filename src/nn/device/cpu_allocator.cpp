#include "nn/device/cpu_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <new>

namespace nmt {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallest = 1 << 12;  // below, the system's allocator is quick enough
constexpr size_t kMapped = 1 << 20;    // from here on blocks are mapped: what is released is the system's at once
constexpr size_t kSpare = 16 << 20;  // may be kept above the largest need, however small that is: the steps of a search
                                     // of a small model ask for some MB, of another size each time
constexpr size_t kMostSpare = 64 << 20;  // however large the largest need is: more made no update quicker
constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr size_t kHugePage =
    1 << 21;  // of the system, where it has them: one fault and one address to look up for each

size_t size_class(size_t bytes) {
  if (bytes <= kSmallest) return bytes;
  const size_t step = std::bit_ceil(bytes) / 16;  // an eighth of the power of two below
  return (bytes + step - 1) / step * step;
}

// Stands in front of every block.
struct alignas(kAlignment) Header {
  size_t bytes;
  size_t wanted;   // by whom it serves now: at most bytes
  uint64_t freed;  // when, on the clock of frees
};
Header* header_of(void* data) { return static_cast<Header*>(data) - 1; }

class ReusingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* data = take(size_class(bytes));
    return {data, data, &give_back, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  int64_t bytes() const { return total_; }
  int64_t most_in_use() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(measured_);
  }
  void measure_anew() {
    const std::lock_guard lock(mutex_);
    measured_ = wanted_;
  }
  void set_most(size_t bytes) {
    const std::lock_guard lock(mutex_);
    most_ = bytes;
  }

  static ReusingAllocator& instance() {
    static auto* allocator = new ReusingAllocator;  // never destroyed: tensors may outlive everything
    return *allocator;
  }

  void give_back_kept() {
    const std::lock_guard lock(mutex_);
    while (idle_ > 0) release_oldest();
    max_in_use_ = in_use_;
  }

 private:
  void* take(size_t bytes) {
    if (bytes <= kSmallest) return fresh(bytes);
    const std::lock_guard lock(mutex_);
    void* data = take_kept(bytes, bytes / 4);
    // Before the system gets one back and clears another: one that is too large.
    if (!data && in_use_ + idle_ + bytes > limit()) data = take_kept(bytes, bytes);
    if (data) {
      header_of(data)->wanted = bytes;
      in_use_ += header_of(data)->bytes;
      note_use(bytes);
      return data;
    }
    in_use_ += bytes;
    note_use(bytes);
    // What is kept makes space for what is needed.
    while (in_use_ + idle_ > limit() && idle_ > 0) release_oldest();
    if (in_use_ > most_) {
      in_use_ -= bytes, wanted_ -= bytes;
      throw std::bad_alloc();
    }
    return fresh(bytes);
  }

  void note_use(size_t wanted) {
    max_in_use_ = std::max(max_in_use_, in_use_);
    wanted_ += wanted;
    measured_ = std::max(measured_, wanted_);
  }

  // The limit of what is in use and kept together.
  size_t limit() const { return std::min(most_, max_in_use_ + std::clamp(max_in_use_ / 8, kSpare, kMostSpare)); }

  // The tightest block kept that has at most `waste` too much, or null.
  void* take_kept(size_t bytes, size_t waste) {
    for (auto kept = kept_.lower_bound(bytes); kept != kept_.end() && kept->first <= bytes + waste; ++kept) {
      auto& blocks = kept->second;
      if (blocks.empty()) continue;
      void* data = blocks.back();
      blocks.pop_back();
      idle_ -= header_of(data)->bytes;
      return data;
    }
    return nullptr;
  }

  void* fresh(size_t bytes) {
    void* block = obtain(bytes);
    if (!block && bytes > kSmallest) {
      while (idle_ > 0) release_oldest();
      block = obtain(bytes);
    }
    if (!block) {
      if (bytes > kSmallest) in_use_ -= bytes, wanted_ -= bytes;
      throw std::bad_alloc();
    }
    total_ += static_cast<int64_t>(bytes);
    static_cast<Header*>(block)->bytes = bytes;
    static_cast<Header*>(block)->wanted = bytes;
    return static_cast<Header*>(block) + 1;
  }

  static void* obtain(size_t bytes) {
    if (bytes >= kMapped) return map(bytes + sizeof(Header));
    void* block = nullptr;
    return posix_memalign(&block, kAlignment, bytes + sizeof(Header)) == 0 ? block : nullptr;
  }

  // Blocks of huge pages begin at one.
  static void* map(size_t bytes) {
    const size_t spare = bytes >= kHugePage ? kHugePage : 0;
    void* mapped = ::mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || spare == 0) return mapped == MAP_FAILED ? nullptr : mapped;
    char* const begin = static_cast<char*>(mapped);
    const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
    char* const block = begin + before;
    static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));  // 4 kB; on ARM64 16 or 64 kB, too
    const size_t whole = (bytes + page - 1) / page * page;
    if (before > 0) ::munmap(begin, before);
    ::munmap(block + whole, spare - before);
    ::madvise(block, whole, MADV_HUGEPAGE);  // only advice: without huge pages all is as before
    return block;
  }

  static void give_back(void* data) {
    if (!data) return;
    auto& self = instance();
    auto* header = header_of(data);
    if (header->bytes <= kSmallest) return self.release(data);
    const std::lock_guard lock(self.mutex_);
    header->freed = ++self.frees_;
    self.in_use_ -= header->bytes;
    self.wanted_ -= header->wanted;
    self.idle_ += header->bytes;
    self.kept_[header->bytes].push_back(data);
  }

  void release(void* data) {
    auto* header = header_of(data);
    total_ -= static_cast<int64_t>(header->bytes);
    if (header->bytes >= kMapped)
      ::munmap(header, header->bytes + sizeof(Header));
    else
      std::free(header);
  }

  // Releases the kept block that has not been wanted for longest: the first of its size.
  void release_oldest() {
    auto oldest = kept_.end();
    for (auto kept = kept_.begin(); kept != kept_.end();) {
      if (kept->second.empty()) {
        kept = kept_.erase(kept);
        continue;
      }
      if (oldest == kept_.end() || header_of(kept->second.front())->freed < header_of(oldest->second.front())->freed)
        oldest = kept;
      ++kept;
    }
    void* data = oldest->second.front();
    oldest->second.pop_front();
    idle_ -= header_of(data)->bytes;
    release(data);
  }

  std::atomic<int64_t> total_ = 0;  // small blocks, too
  std::mutex mutex_;                // of what follows
  std::map<size_t, std::deque<void*>> kept_;
  size_t in_use_ = 0, idle_ = 0, max_in_use_ = 0;
  size_t most_ = kNoLimit;            // of TensorLimit
  size_t wanted_ = 0, measured_ = 0;  // what is in use by what was asked for; the most since measure_anew()
  uint64_t frees_ = 0;
};

std::atomic<bool> in_use = false;

}  // namespace

void reuse_freed_tensors() {
  if (in_use.exchange(true)) return;
  c10::SetCPUAllocator(&ReusingAllocator::instance(), /*priority=*/100);
}

void give_back_freed_tensors() {
  if (in_use) ReusingAllocator::instance().give_back_kept();
}

int64_t most_tensor_bytes_in_use() { return in_use ? ReusingAllocator::instance().most_in_use() : 0; }

void measure_tensors_anew() { ReusingAllocator::instance().measure_anew(); }

// What is kept would be handed out whatever the limit.
TensorLimit::TensorLimit(int64_t bytes) {
  give_back_freed_tensors();
  ReusingAllocator::instance().set_most(static_cast<size_t>(bytes));
}

TensorLimit::~TensorLimit() { ReusingAllocator::instance().set_most(kNoLimit); }

int64_t tensor_bytes() { return in_use ? ReusingAllocator::instance().bytes() : 0; }

}  // namespace nmt
