#pragma once

#include <cstdint>
#include <functional>

namespace nmt {

/// The stages of a stream of items, each of which lies in one of `slots` places that the caller keeps while it is in
/// flight: 0 to slots - 1, used in turn.
struct PipelineStages {
  /// Puts the next item into the slot; false at the end. On any thread, but one call at a time and in order.
  std::function<bool(int64_t slot)> read;
  /// The work of an item; on several threads at once. worker: which one, from 0 to threads - 1.
  std::function<void(int64_t slot, int worker)> transform;
  /// Takes the item out, in order, on the calling thread; false to stop: nothing more is written.
  std::function<bool(int64_t slot)> write;
};

/// Runs a stream through its stages on `threads` threads, the calling one among them. What is written is the same for
/// any number of threads. No more than `slots` items are in flight, whichever stage is the slowest. An exception of
/// read or transform is rethrown when it is its item's turn to be written, so that the one of the earliest item counts
/// and all items before it are written. MachineError where the system gives too few threads. With one thread an item
/// goes through all stages before the next one is read.
void run_ordered_pipeline(const PipelineStages& stages, int threads, int64_t slots);

}  // namespace nmt
