#include "simulated_device/memory.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <deque>

#include "simulated_device/streams.h"

namespace nmt::simulated {
namespace {

constexpr size_t kArena = size_t{1} << 36;  // addresses, not memory
constexpr size_t kSmallest = 512;
constexpr size_t kQuarantine = 64;  // freed blocks of a size that are kept before one is used again
constexpr int kNanByte = 0xFF;      // floats of it are NaN, integers -1

size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

/// Where an access of this thread goes back to, instead of ending the program.
thread_local sigjmp_buf* return_point = nullptr;
thread_local std::string* return_message = nullptr;

class Memory {
 public:
  static Memory& get() {
    static auto* memory = new Memory;  // never destroyed: tensors may outlive everything
    return *memory;
  }

  BlockPointer allocate(size_t bytes) {
    const std::lock_guard lock(mutex());
    if (fails_after_ >= 0 && fails_after_-- == 0) out_of_memory(bytes);
    if (limit_ && in_use_ + static_cast<int64_t>(bytes) > *limit_) out_of_memory(bytes);
    auto block = std::make_shared<Block>();
    block->bytes = bytes;
    block->reserved = std::bit_ceil(std::max(bytes, kSmallest));
    block->home = present_stream();
    block->in_graph = is_recording();
    auto& free = free_[block->reserved];
    if (free.size() > kQuarantine || (block->reserved > (1 << 20) && !free.empty())) {
      block->host = free.front();
      free.pop_front();
    } else {
      TORCH_CHECK(used_ + block->reserved <= kArena, "the simulated device has no addresses left");
      block->host = base_ + used_;
      used_ += block->reserved;
    }
    block->device = block->host + offset_;
    std::memset(block->device, kNanByte, block->reserved);
    give_storage(*block);
    in_use_ += static_cast<int64_t>(bytes);
    peak_ = std::max(peak_, in_use_);
    by_address_[block->host] = block.get();
    return block;
  }

  BlockPointer allocate_pinned(size_t bytes) {
    const std::lock_guard lock(mutex());
    auto block = std::make_shared<Block>();
    block->kind = Block::Kind::kPinned;
    block->bytes = bytes;
    block->reserved = (std::max<size_t>(bytes, 1) + page() - 1) / page() * page();
    const int file = memfd_create("pinned", 0);
    TORCH_CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(block->reserved)) == 0, "no pinned memory");
    const auto map = [&] {
      void* at = mmap(nullptr, block->reserved, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      TORCH_CHECK(at != MAP_FAILED, "no pinned memory");
      return static_cast<char*>(at);
    };
    block->host = map();
    block->device = map();
    close(file);
    give_storage(*block);
    by_address_[block->host] = block.get();
    return block;
  }

  /// Nothing refers to it any more, neither a tensor nor work.
  void release(const Block& block) {
    const std::lock_guard lock(mutex());
    if (!block.host) return;
    by_address_.erase(block.host);
    if (block.kind == Block::Kind::kPinned) {
      munmap(block.host, block.reserved);
      munmap(block.device, block.reserved);
    } else {
      free_[block.reserved].push_back(block.host);
    }
  }

  void freed_by_host(Block& block) {
    const std::lock_guard lock(mutex());
    block.freed = true;
    if (block.kind == Block::Kind::kPinned) return;
    in_use_ -= static_cast<int64_t>(block.bytes);
    const auto check = [&](const Access& access) {
      if (access.stream == block.home || block.recorded.contains(access.stream)) return;
      if (access.before(clock_of(block.home)) || access.before(clock_of_host())) return;
      violation("memory is freed while stream " + std::to_string(access.stream) + " may still use it (" + access.by +
                "): " + describe(block) + "; wait for that stream, or record_stream");
    };
    if (block.written) check(*block.written);
    for (const auto& [stream, access] : block.read) check(access);
  }

  Block* at(const void* address) {
    auto after = by_address_.upper_bound(static_cast<char*>(const_cast<void*>(address)));
    if (after == by_address_.begin()) return nullptr;
    Block* block = std::prev(after)->second;
    return static_cast<const char*>(address) < block->host + block->reserved ? block : nullptr;
  }

  bool holds(const void* address) const { return address >= base_ && address < base_ + kArena; }

  static std::string describe(const Block& block) {
    std::string text = std::to_string(block.bytes) + " bytes";
    if (block.written) text += ", last written by " + block.written->by;
    return text;
  }

  std::optional<int64_t> limit_;
  int64_t fails_after_ = -1;
  int64_t in_use_ = 0, peak_ = 0;

 private:
  Memory() {
    const auto reserve = [](int protection) {
      void* at = mmap(nullptr, kArena, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      TORCH_CHECK(at != MAP_FAILED, "the simulated device has no addresses");
      return static_cast<char*>(at);
    };
    base_ = reserve(PROT_NONE);
    offset_ = reserve(PROT_READ | PROT_WRITE) - base_;
    struct sigaction action {};
    action.sa_sigaction = &on_access;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
  }

  static void give_storage(Block& block) {
    block.storage = c10::Storage(c10::Storage::use_byte_size_t{}, block.bytes,
                                 c10::DataPtr(block.device, c10::Device(c10::kCPU)), nullptr, false);
  }

  void out_of_memory(size_t bytes) const {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "simulated device: out of memory: ", bytes, " bytes are wanted, ",
                     in_use_, " are in use");
  }

  static std::string message_about(const void* address) {
    auto& memory = get();
    const Block* block = memory.at(address);
    if (!block) return memory.holds(address) ? "the host accesses device memory that is freed" : "";
    if (block->kind == Block::Kind::kDevice) return "the host accesses device memory: " + describe(*block);
    std::string by;
    for (const auto& access : block->in_flight) by = access.by;
    return "the host accesses pinned memory that the device is not known to be done with (" + by +
           "): wait for the stream or an event first";
  }

  static void on_access(int number, siginfo_t* info, void*) {
    const std::string message = message_about(info->si_addr);
    if (return_point && !message.empty()) {
      *return_message = message;
      siglongjmp(*return_point, 1);
    }
    if (!message.empty()) {
      const std::string text = "simulated device: " + message + "\n";
      (void)!write(STDERR_FILENO, text.data(), text.size());
      void* frames[48];
      backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
    }
    signal(number, SIG_DFL);  // the access is tried again, and ends the program
  }

  char* base_ = nullptr;
  ptrdiff_t offset_ = 0;
  size_t used_ = 0;
  std::map<size_t, std::deque<char*>> free_;
  std::map<char*, Block*> by_address_;
};

void give_back(void* context) {
  auto* block = static_cast<BlockPointer*>(context);
  if ((*block)->host) Memory::get().freed_by_host(**block);
  const std::lock_guard lock(mutex());
  delete block;
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* block = new BlockPointer(allocate_pinned(bytes));
    return {(*block)->host, block, &give_back, c10::Device(c10::kCPU)};
  }
  void copy_data(void*, const void*, size_t) const override { TORCH_CHECK(false, "not on the simulated device"); }
};

/// Counts as the allocators of LibTorch's devices do.
class CountingAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* block = new BlockPointer(allocate_block(bytes));
    return {(*block)->host, block, &give_back, device()};
  }
  void copy_data(void*, const void*, size_t) const override { TORCH_CHECK(false, "not on the simulated device"); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override { TORCH_CHECK(false, "not on the simulated device"); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocated_bytes[0].current = bytes_in_use();
    stats.allocated_bytes[0].peak = peak_bytes();
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { reset_peak(); }
};

}  // namespace

Block::~Block() { Memory::get().release(*this); }

BlockPointer allocate_block(size_t bytes) { return Memory::get().allocate(bytes); }
BlockPointer allocate_pinned(size_t bytes) { return Memory::get().allocate_pinned(bytes); }

void protect(const Block& block) {
  int protection = PROT_READ | PROT_WRITE;
  for (const auto& access : block.in_flight) protection &= access.writes ? PROT_NONE : PROT_READ;
  mprotect(block.host, block.reserved, protection);
}

BlockPointer block_of(const c10::Storage& storage) {
  const auto& pointer = storage.data_ptr();
  if (pointer.get_deleter() != &give_back) return nullptr;
  return *static_cast<BlockPointer*>(pointer.get_context());
}

bool is_pinned_address(const void* address) {
  const std::lock_guard lock(mutex());
  const Block* block = Memory::get().at(address);
  return block && block->kind == Block::Kind::kPinned;
}

c10::Allocator& device_allocator() {
  static auto* allocator = new CountingAllocator;
  return *allocator;
}

c10::Allocator& pinned_allocator() {
  static auto* allocator = new PinnedAllocator;
  return *allocator;
}

int64_t bytes_in_use() { return Memory::get().in_use_; }
int64_t peak_bytes() { return Memory::get().peak_; }
void reset_peak() { Memory::get().peak_ = Memory::get().in_use_; }
void set_memory_limit(std::optional<int64_t> bytes) { Memory::get().limit_ = bytes; }
void fail_allocation_after(int64_t count) { Memory::get().fails_after_ = count; }

std::optional<std::string> access_error(const std::function<void()>& body) {
  Memory::get();
  sigjmp_buf here;
  std::string message;
  if (sigsetjmp(here, 1) != 0) {
    return_point = nullptr;
    return message;
  }
  return_message = &message;
  return_point = &here;
  body();
  return_point = nullptr;
  return std::nullopt;
}

}  // namespace nmt::simulated
