#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "simulated_device/clock.h"

namespace nmt::simulated {

/// A piece of memory with two addresses: `host` is what tensors hold; `device` is where work finds it.
struct Block {
  enum class Kind { kDevice, kPinned };
  Kind kind = Kind::kDevice;
  char* host = nullptr;
  char* device = nullptr;
  size_t bytes = 0, reserved = 0;
  int home = 0;          ///< the stream that it was allocated for
  c10::Storage storage;  ///< of the CPU, at `device`: for the tensors that work computes with
  std::optional<Access> written;
  std::map<int, Access> read;  ///< the last of each stream
  std::set<int> recorded;      ///< streams of record_stream
  bool freed = false;
  bool in_graph = false;          ///< allocated while a graph was recorded, which keeps it
  std::vector<Access> in_flight;  ///< pinned: asynchronous copies that the host does not know to be done
  ~Block();
};
using BlockPointer = std::shared_ptr<Block>;

/// Throws c10::OutOfMemoryError beyond the limit.
BlockPointer allocate_block(size_t bytes);
BlockPointer allocate_pinned(size_t bytes);

/// Pages of pinned memory as its copies in flight allow.
void protect(const Block& block);

/// The block of a tensor of the device or of pinned memory; null for other tensors.
BlockPointer block_of(const c10::Storage& storage);
bool is_pinned_address(const void* address);

c10::Allocator& device_allocator();
c10::Allocator& pinned_allocator();

}  // namespace nmt::simulated
