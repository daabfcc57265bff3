#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// An accelerator that LibTorch knows as PrivateUse1 and that needs no hardware: for tests only. Its operations are
/// those of the CPU; all else is as on a GPU, and stricter:
///
/// * Memory of the device is its own. The address in a tensor is never readable: a host that reads or writes there dies
/// by
///   SIGSEGV, after a message that says which tensor it was. Fresh memory is full of NaN.
/// * Work is launched on streams and runs when `Order` says so; shapes of results are known at once. A random operation
///   draws its numbers at the launch.
/// * Each stream and the host have a vector clock. Work that touches memory which another stream has written or read,
/// and
///   that does not wait for it, is a violation, whatever order things happened to run in; so is memory that is freed
///   while another stream may still use it.
/// * Pinned memory belongs to the device from the launch of an asynchronous copy until the host knows of its end: until
///   then the host dies where it reads (copies to the host) or writes (all copies).
/// * A tensor of the host among the arguments is an error, but for single numbers of pointwise operations.
/// * Where the host waits for the device, a synchronisation is counted: values that are read, shapes that depend on
///   values, copies that are not asynchronous or not of pinned memory.
///
/// Everything is registered when the library is loaded: a program that is started with it in LD_PRELOAD sees the device
/// as LibTorch's accelerator.
namespace nmt::simulated {

torch::Device device();

/// When launched work runs.
enum class Order {
  kAtOnce,
  kLate,    ///< when the host waits for it
  kSeeded,  ///< at each launch some of what is ready, by random numbers; the rest when the host waits for it
};
void set_order(Order order, uint64_t seed = 0);

/// Since the last reset_counts().
struct Counts {
  int64_t launches = 0;                       ///< operations and asynchronous copies
  int64_t late = 0;                           ///< of those that ran after the call that launched them
  std::vector<std::string> synchronisations;  ///< each with the operation that waited
  int64_t replays = 0;                        ///< of graphs
};
const Counts& counts();
void reset_counts();

/// Wait for everything; not counted.
void finish();

/// Bytes of tensors, and the most since reset_peak().
int64_t bytes_in_use();
int64_t peak_bytes();
void reset_peak();
/// More than this many bytes in use: c10::OutOfMemoryError, as from a GPU. nullopt: no limit.
void set_memory_limit(std::optional<int64_t> bytes);
/// The allocation after `count` others fails, once.
void fail_allocation_after(int64_t count);

/// Whether the device multiplies bfloat16, and float16.
void set_types(bool bfloat16, bool float16);

/// What was done wrong (missing waits, freed memory in use) while it exists. Without one, the first violation prints
/// itself and aborts.
class Violations {
 public:
  Violations();
  ~Violations();
  Violations(const Violations&) = delete;
  const std::vector<std::string>& found() const;
};

/// The message with which an access of `body` to memory that is not the host's would end the program; nullopt: there is
/// none. body is left where it is: it must hold nothing.
std::optional<std::string> access_error(const std::function<void()>& body);

/// A stream of the device, in place of the present one of this thread.
class OnStream {
 public:
  explicit OnStream(int64_t stream);
  ~OnStream();
  OnStream(const OnStream&) = delete;

 private:
  int64_t before_;
};

/// Work recorded once and launched again, as by CUDA graphs. While it is recorded nothing runs, and the host may wait
/// for nothing.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  void begin();
  void end();
  void replay();

 private:
  struct Recorded;
  std::unique_ptr<Recorded> recorded_;
};

}  // namespace nmt::simulated
