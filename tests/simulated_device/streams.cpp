#include "simulated_device/streams.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

namespace nmt::simulated {
namespace {

thread_local int stream_of_thread = 0;

struct Item {
  Work work;    // of a wait: none
  Clock waits;  // for this, before
  uint64_t epoch = 0;
};

class Streams {
 public:
  static Streams& get() {
    static auto* streams = new Streams;
    return *streams;
  }

  void launch(int stream, Work work) {
    if (recording_) {
      for (const auto* blocks : {&work.reads, &work.writes})
        for (const auto& block : *blocks)
          TORCH_CHECK(block->kind != Block::Kind::kPinned, "simulated device: ", work.name,
                      " in a graph: it would read or write the same memory of the host each time");
      return recorded_.push_back(std::move(work));
    }
    auto& clock = clocks_[stream];
    clock.join(host_);
    const uint64_t epoch = ++launched_.of[stream];
    check_and_book(stream, epoch, clock, work);
    clock.of[stream] = epoch;
    ++counts_.launches;
    queues_[stream].push_back({std::move(work), {}, epoch});
    switch (order_) {
      case Order::kAtOnce:
        run_until(stream, epoch);
        break;
      case Order::kSeeded:
        for (auto some = random_() % 4; some > 0; --some) run_some();
        [[fallthrough]];
      case Order::kLate:
        counts_.late += done_.of[stream] < epoch;
        // So that the memory of work that nobody waits for is bounded.
        if (queues_[stream].size() > 20000) run_until(stream, epoch - 10000);
    }
  }

  void run_until(int stream, uint64_t epoch) {
    auto& queue = queues_[stream];
    while (done_.of[stream] < epoch && !queue.empty()) run_first(stream);
  }

  void run_until(const Clock& clock) {
    for (int s = 0; s < kStreams; ++s) run_until(s, clock.of[s]);
  }

  void host_knows(const Clock& clock) {
    host_.join(clock);
    std::erase_if(in_flight_, [&](const std::weak_ptr<Block>& weak) {
      const auto block = weak.lock();
      if (!block) return true;
      std::erase_if(block->in_flight, [&](const Access& access) { return access.before(host_); });
      protect(*block);
      return block->in_flight.empty();
    });
  }

  Clock launched(int stream) const {
    Clock clock = clocks_[stream];
    clock.join(host_);
    clock.of[stream] = launched_.of[stream];
    return clock;
  }

  std::array<Clock, kStreams> clocks_;  // what the last work of each stream comes after
  std::array<std::deque<Item>, kStreams> queues_;
  Clock launched_, done_, host_;
  std::vector<std::weak_ptr<Block>> in_flight_;
  Counts counts_;
  Order order_ = Order::kAtOnce;
  std::mt19937_64 random_;
  std::vector<std::vector<std::string>*> collectors_;
  bool recording_ = false;
  std::vector<Work> recorded_;
  int next_stream_ = 0;

 private:
  void run_first(int stream) {
    Item item = std::move(queues_[stream].front());
    queues_[stream].pop_front();
    run_until(item.waits);
    if (!item.work.run) return;
    item.work.run();
    done_.of[stream] = item.epoch;
  }

  void run_some() {
    const auto stream = static_cast<int>(random_() % kStreams);
    if (!queues_[stream].empty())
      run_first(stream);
    else if (!queues_[0].empty())
      run_first(0);
  }

  // Uses of each block by other streams have to come before.
  void check_and_book(int stream, uint64_t epoch, const Clock& clock, const Work& work) {
    const auto check = [&](const Access& other, const char* here, const char* there) {
      if (other.stream == stream || other.before(clock)) return;
      violation("a wait is missing: " + work.name + " on stream " + std::to_string(stream) + " " + here + " what " +
                other.by + " on stream " + std::to_string(other.stream) + " " + there);
    };
    for (const auto& block : work.reads)
      if (block->written) check(*block->written, "reads", "writes");
    for (const auto& block : work.writes) {
      if (block->written) check(*block->written, "writes", "writes");
      for (const auto& [other, access] : block->read) check(access, "writes", "reads");
    }
    for (const auto& block : work.reads) book(block, {stream, epoch, false, work.name});
    for (const auto& block : work.writes) book(block, {stream, epoch, true, work.name});
  }

  void book(const BlockPointer& block, Access access) {
    if (block->kind == Block::Kind::kPinned) {
      if (block->in_flight.empty()) in_flight_.push_back(block);
      block->in_flight.push_back(access);
      protect(*block);
    }
    if (access.writes) {
      block->written = access;
      block->read.clear();
    } else {
      block->read[access.stream] = access;
    }
  }
};

}  // namespace

std::recursive_mutex& mutex() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

int present_stream() { return stream_of_thread; }
int exchange_stream(int stream) { return std::exchange(stream_of_thread, stream); }
int next_pool_stream() {
  const std::lock_guard lock(mutex());
  auto& next = Streams::get().next_stream_;
  next = next % (kStreams - 1) + 1;
  return next;
}

void launch(Work work) {
  const std::lock_guard lock(mutex());
  Streams::get().launch(present_stream(), std::move(work));
}

void synchronise(const std::string& name) {
  const std::lock_guard lock(mutex());
  TORCH_CHECK(!is_recording(), "simulated device: ", name, " waits for the device while a graph is recorded");
  Streams::get().counts_.synchronisations.push_back(name);
  wait_for_stream(present_stream());
}

void wait_for_stream(int stream) { wait_for(clock_of(stream)); }

void wait_for_all() {
  for (int s = 0; s < kStreams; ++s) wait_for_stream(s);
}

void wait_for(const Clock& clock) {
  const std::lock_guard lock(mutex());
  Streams::get().run_until(clock);
  Streams::get().host_knows(clock);
}

bool is_done(const Clock& clock) {
  const std::lock_guard lock(mutex());
  auto& streams = Streams::get();
  for (int s = 0; s < kStreams; ++s)
    if (streams.done_.of[s] < clock.of[s]) {
      streams.run_until(s, streams.done_.of[s] + 1);  // whoever asks again and again gets an end
      return false;
    }
  streams.host_knows(clock);
  return true;
}

Clock clock_of(int stream) {
  const std::lock_guard lock(mutex());
  return Streams::get().launched(stream);
}

void make_wait(int stream, const Clock& clock) {
  const std::lock_guard lock(mutex());
  auto& streams = Streams::get();
  streams.clocks_[stream].join(clock);
  streams.queues_[stream].push_back({{}, clock, 0});
}

const Clock& clock_of_host() { return Streams::get().host_; }

void violation(const std::string& what) {
  auto& collectors = Streams::get().collectors_;
  if (!collectors.empty()) return collectors.back()->push_back(what);
  std::fprintf(stderr, "simulated device: %s\n", what.c_str());
  std::abort();
}

void begin_recording() {
  const std::lock_guard lock(mutex());
  TORCH_CHECK(!Streams::get().recording_, "simulated device: a graph is recorded already");
  Streams::get().recording_ = true;
  Streams::get().recorded_.clear();
}
std::vector<Work> end_recording() {
  const std::lock_guard lock(mutex());
  Streams::get().recording_ = false;
  return std::move(Streams::get().recorded_);
}
bool is_recording() { return Streams::get().recording_; }

void replay(const std::vector<Work>& works) {
  const std::lock_guard lock(mutex());
  ++Streams::get().counts_.replays;
  for (const auto& work : works) {
    for (const auto* blocks : {&work.reads, &work.writes})
      for (const auto& block : *blocks)
        if (block->freed && !block->in_graph) violation("a recorded graph uses memory that is freed: " + work.name);
    launch(work);
  }
}

void set_order(Order order, uint64_t seed) {
  const std::lock_guard lock(mutex());
  Streams::get().order_ = order;
  Streams::get().random_.seed(seed);
}

const Counts& counts() { return Streams::get().counts_; }
void reset_counts() { Streams::get().counts_ = {}; }
void finish() { wait_for_all(); }

Violations::Violations() { Streams::get().collectors_.push_back(new std::vector<std::string>); }
Violations::~Violations() {
  delete Streams::get().collectors_.back();
  Streams::get().collectors_.pop_back();
}
const std::vector<std::string>& Violations::found() const { return *Streams::get().collectors_.back(); }

OnStream::OnStream(int64_t stream) : before_(exchange_stream(static_cast<int>(stream))) {}
OnStream::~OnStream() { exchange_stream(static_cast<int>(before_)); }

struct Graph::Recorded {
  std::vector<Work> works;
};
Graph::Graph() : recorded_(std::make_unique<Recorded>()) {}
Graph::~Graph() = default;
void Graph::begin() { begin_recording(); }
void Graph::end() { recorded_->works = end_recording(); }
void Graph::replay() { simulated::replay(recorded_->works); }

}  // namespace nmt::simulated
