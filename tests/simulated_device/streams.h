#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simulated_device/memory.h"
#include "simulated_device/simulated_device.h"

namespace nmt::simulated {

/// One for all of the device: launches of several threads are in some order.
std::recursive_mutex& mutex();

struct Work {
  std::string name;
  std::vector<BlockPointer> reads, writes;
  std::function<void()> run;
};

int present_stream();
/// Returns the one before.
int exchange_stream(int stream);
int next_pool_stream();

/// On the present stream. Throws for a violation of the order of uses that nobody collects.
void launch(Work work);

/// The host waits for the present stream (all of its work so far), which is counted under this name.
void synchronise(const std::string& name);
/// The host waits for a stream, for all, for a clock; not counted.
void wait_for_stream(int stream);
void wait_for_all();
void wait_for(const Clock& clock);
bool is_done(const Clock& clock);

/// What is done when all that was launched on the stream so far is.
Clock clock_of(int stream);
/// Later work of the stream waits for it.
void make_wait(int stream, const Clock& clock);
const Clock& clock_of_host();

/// Prints and aborts, or is collected.
void violation(const std::string& what);

/// What launches while a graph is recorded.
void begin_recording();
std::vector<Work> end_recording();
bool is_recording();
void replay(const std::vector<Work>& works);

}  // namespace nmt::simulated
