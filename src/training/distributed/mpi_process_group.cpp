#include "training/distributed/mpi_process_group.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/log.h"

#ifdef NMT_WITH_MPI

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <list>
#include <mutex>
#include <thread>

#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"

namespace nmt {
namespace {

constexpr int kSumTag = 0, kHandOverTag = 1, kFirstBucketTag = 2;
constexpr size_t kMostBytes = 1 << 30;  // of a message
constexpr auto kPoll = std::chrono::microseconds(20), kLongPoll = std::chrono::microseconds(500);
constexpr auto kIdle = std::chrono::milliseconds(2);
constexpr double kPatience = 0.1;  // seconds without news until it looks more seldom
constexpr double kShutdown = 2;    // seconds that a failed process takes to tell the others

/// Messages that are exchanged together: `start` posts them, `complete` is called when all have arrived.
struct Exchange {
  std::function<void(std::vector<MPI_Request>&)> start;
  std::function<void()> complete;
  std::vector<MPI_Request> requests = {};
  bool done = false;
};
using ExchangePtr = std::shared_ptr<Exchange>;

class MpiProcessGroup final : public ProcessGroup {
 public:
  MpiProcessGroup(const LaunchedProcess& process, int64_t timeout, OnLost on_lost)
      : rank_(process.rank), size_(process.size), timeout_(static_cast<double>(timeout)), on_lost_(std::move(on_lost)) {
    std::promise<int> joined;
    auto found = joined.get_future();
    thread_ = std::thread([this, &joined] { work(joined); });
    const int together = found.get();
    if (together == size_) return;
    thread_.join();
    throw Error(
        fmt::format("{} started {} processes, but MPI joins {} of them: on CPUs processes are started with mpirun "
                    "(Open MPI's), or with srun --mpi=pmix",
                    process.launcher, size_, together));
  }

  ~MpiProcessGroup() override {
    if (!thread_.joinable()) return;
    shutdown_ = std::uncaught_exceptions() > exceptions_before_ ? LifeSign::kFailed : LifeSign::kDone;
    thread_.join();
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool adds_in_order() const override { return true; }
  void expect_progress(bool on) override { progress_.expect(on, steady_seconds()); }
  void show_progress() override { progress_.show(steady_seconds()); }

  void sum(std::span<double> values) override {
    const size_t count = values.size();
    std::vector<double> all(count * size_);
    std::copy(values.begin(), values.end(), all.begin() + count * rank_);
    wait(post({.start =
                   [&](auto& requests) {
                     for (int peer = 0; peer < size_; ++peer) {
                       if (peer == rank_) continue;
                       receive(requests, all.data() + count * peer, count, MPI_DOUBLE, peer, kSumTag);
                       send(requests, all.data() + count * rank_, count, MPI_DOUBLE, peer, kSumTag);
                     }
                   },
               .complete = [] {}}));
    for (size_t i = 0; i < count; ++i) {
      values[i] = all[i];
      for (int64_t peer = 1; peer < size_; ++peer) values[i] += all[count * peer + i];
    }
  }

  void hand_over(std::span<const OwnedTensor> tensors, Receivers receivers) override {
    const bool receives = receivers == Receivers::kAll || leads();
    wait(post({.start =
                   [&](auto& requests) {
                     for (const auto& tensor : tensors) {
                       if (tensor.owner == rank_)
                         send_bytes(requests, tensor.values, receivers);
                       else if (receives)
                         receive_bytes(requests, tensor.values, static_cast<int>(tensor.owner));
                     }
                   },
               .complete = [] {}}));
  }

  std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) override;

  // For the main thread.
  ExchangePtr post(Exchange exchange) {
    auto posted = std::make_shared<Exchange>(std::move(exchange));
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(posted);
    }
    changed_.notify_all();
    return posted;
  }
  void wait(const ExchangePtr& exchange) {
    std::unique_lock lock(mutex_);
    progress_.wait(true, steady_seconds());
    changed_.wait(lock, [&] { return exchange->done; });
    progress_.wait(false, steady_seconds());
  }

  // For Exchange::start.
  void send(std::vector<MPI_Request>& requests, const void* data, size_t count, MPI_Datatype type, int peer, int tag) {
    MPI_Isend(data, static_cast<int>(count), type, peer, tag, messages_, &requests.emplace_back());
  }
  void receive(std::vector<MPI_Request>& requests, void* data, size_t count, MPI_Datatype type, int peer, int tag) {
    MPI_Irecv(data, static_cast<int>(count), type, peer, tag, messages_, &requests.emplace_back());
  }

 private:
  /// The life signs exchanged with one other process.
  struct Line {
    int32_t out = 0, in = 0;
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
  };

  // In pieces; those of one pair of processes arrive in their order.
  void send_bytes(std::vector<MPI_Request>& requests, const torch::Tensor& values, Receivers receivers) {
    const auto* bytes = static_cast<const char*>(values.const_data_ptr());
    for (size_t at = 0; at < values.nbytes(); at += kMostBytes)
      for (int peer = 0; peer < (receivers == Receivers::kAll ? size_ : 1); ++peer)
        if (peer != rank_)
          send(requests, bytes + at, std::min(kMostBytes, values.nbytes() - at), MPI_BYTE, peer, kHandOverTag);
  }
  void receive_bytes(std::vector<MPI_Request>& requests, const torch::Tensor& values, int owner) {
    auto* bytes = static_cast<char*>(values.mutable_data_ptr());
    for (size_t at = 0; at < values.nbytes(); at += kMostBytes)
      receive(requests, bytes + at, std::min(kMostBytes, values.nbytes() - at), MPI_BYTE, owner, kHandOverTag);
  }

  void work(std::promise<int>& joined) {
    int provided = 0, together = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &together);
    if (together == size_) {
      MPI_Comm_dup(MPI_COMM_WORLD, &messages_);
      MPI_Comm_dup(MPI_COMM_WORLD, &life_);
    }
    joined.set_value(together);
    if (together == size_) serve();
    if (shutdown_ != LifeSign::kFailed) MPI_Finalize();
  }

  void serve() {
    PeerWatch watch(rank_, size_, timeout_, steady_seconds());
    std::vector<Line> lines(size_);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) listen(lines[peer], peer);
    double spoken = -1e9, parting = 0;
    for (;;) {
      const bool busy = advance();
      const double now = steady_seconds();
      for (int peer = 0; peer < size_; ++peer) {
        if (peer == rank_ || !arrived(lines[peer].receiving)) continue;
        watch.heard(peer, static_cast<LifeSign>(lines[peer].in), now);
        listen(lines[peer], peer);
      }
      const bool hung = progress_.hung(now, timeout_);
      const LifeSign own = hung ? LifeSign::kHung : shutdown_.load();
      if (own == LifeSign::kAtWork) parting = 0;
      if (own != LifeSign::kAtWork && parting == 0) parting = now, spoken = -1e9;
      if (now - spoken > watch.interval()) {
        speak(lines, own);
        spoken = now;
      }
      if (own == LifeSign::kDone && watch.all_done()) return close_lines(lines);
      if (own == LifeSign::kFailed && (now - parting > kShutdown || (spoken >= parting && all_sent(lines)))) return;
      if (hung && now - parting > kShutdown / 2) on_lost_(own_hang(rank_, timeout_));
      if (const auto line = watch.lost(now)) on_lost_(*line);
      if (busy) std::this_thread::sleep_for(now - moved_ < kPatience ? kPoll : kLongPoll);
    }
  }

  // Starts what was posted and completes what has arrived; waits a little where there is nothing to do. True: more is
  // under way.
  bool advance() {
    {
      std::unique_lock lock(mutex_);
      if (posted_.empty() && under_way_.empty()) changed_.wait_for(lock, kIdle, [this] { return !posted_.empty(); });
      for (auto& exchange : posted_) {
        exchange->start(exchange->requests);
        under_way_.push_back(exchange);
        moved_ = steady_seconds();
      }
      posted_.clear();
    }
    for (auto exchange = under_way_.begin(); exchange != under_way_.end();) {
      int all = 0;
      auto& requests = (*exchange)->requests;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
      if (!all) {
        ++exchange;
        continue;
      }
      (*exchange)->complete();
      {
        const std::lock_guard lock(mutex_);
        (*exchange)->done = true;
      }
      changed_.notify_all();
      moved_ = steady_seconds();
      exchange = under_way_.erase(exchange);
    }
    return !under_way_.empty();
  }

  static bool arrived(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done;
  }
  void listen(Line& line, int peer) { MPI_Irecv(&line.in, 1, MPI_INT32_T, peer, 0, life_, &line.receiving); }

  // To all but those to whom a sign of before is still on its way.
  void speak(std::vector<Line>& lines, LifeSign sign) {
    for (int peer = 0; peer < size_; ++peer) {
      auto& line = lines[peer];
      if (peer == rank_ || !arrived(line.sending)) continue;
      line.out = static_cast<int32_t>(sign);
      MPI_Isend(&line.out, 1, MPI_INT32_T, peer, 0, life_, &line.sending);
    }
  }
  static bool all_sent(std::vector<Line>& lines) {
    return std::all_of(lines.begin(), lines.end(), [](Line& line) { return arrived(line.sending); });
  }

  // Everyone is done: what they said last may still be under way.
  static void close_lines(std::vector<Line>& lines) {
    for (auto& line : lines) {
      MPI_Wait(&line.sending, MPI_STATUS_IGNORE);
      if (line.receiving == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&line.receiving);
      MPI_Wait(&line.receiving, MPI_STATUS_IGNORE);
    }
  }

  const int rank_, size_;
  const double timeout_;
  const OnLost on_lost_;
  const int exceptions_before_ = std::uncaught_exceptions();
  MPI_Comm messages_ = MPI_COMM_NULL, life_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ExchangePtr> posted_;
  std::list<ExchangePtr> under_way_;  // the thread's own, as the next
  double moved_ = 0;                  // when an exchange last began or ended
  OwnProgress progress_;
  std::atomic<LifeSign> shutdown_ = LifeSign::kAtWork;
  int buckets_ = 0;
  std::thread thread_;
};

// Shared with the exchanges under way, which may outlive the bucket where a process fails.
struct BucketParts {
  BucketParts(MpiProcessGroup& group, torch::Tensor bucket, int number)
      : values(std::move(bucket)),
        data(values.data_ptr<float>()),
        tag(kFirstBucketTag + number),
        rank(static_cast<int>(group.rank())),
        size(static_cast<int>(group.size())),
        given(static_cast<size_t>(size) * length(rank)),
        total(length(rank)) {}

  float* begin(int of) const { return data + values.numel() * of / size; }
  size_t length(int of) const { return static_cast<size_t>(begin(of + 1) - begin(of)); }
  float* given_by(int peer) { return given.data() + static_cast<size_t>(peer) * total.size(); }

  void add(const float* part) {
    if (std::exchange(empty, false))
      std::copy_n(part, total.size(), total.begin());
    else
      for (size_t i = 0; i < total.size(); ++i) total[i] += part[i];
  }

  torch::Tensor values;
  float* data;
  const int tag, rank, size;
  std::vector<float> given;  // by each process, of the part that this one owns
  std::vector<float> total;  // of that part
  bool empty = true;
};

class MpiBucketSum final : public BucketSum {
 public:
  MpiBucketSum(MpiProcessGroup& group, torch::Tensor values, int number)
      : group_(group), parts_(std::make_shared<BucketParts>(group, std::move(values), number)) {}

  void add(int64_t contributors) override {
    wait_added();
    const auto givers = static_cast<int>(contributors);
    const auto start = [&group = group_, parts = parts_, givers](auto& requests) {
      for (int peer = 0; peer < parts->size; ++peer) {
        if (peer == parts->rank) continue;
        if (peer < givers)
          group.receive(requests, parts->given_by(peer), parts->total.size(), MPI_FLOAT, peer, parts->tag);
        if (parts->rank < givers)
          group.send(requests, parts->begin(peer), parts->length(peer), MPI_FLOAT, peer, parts->tag);
      }
    };
    const auto complete = [parts = parts_, givers] {
      for (int peer = 0; peer < givers; ++peer)
        parts->add(peer == parts->rank ? parts->begin(peer) : parts->given_by(peer));
    };
    adding_ = group_.post({.start = start, .complete = complete});
  }

  void wait_added() override {
    if (adding_) group_.wait(adding_);
    adding_.reset();
  }

  void finish() override {
    wait_added();
    const auto start = [&group = group_, parts = parts_](auto& requests) {
      std::copy(parts->total.begin(), parts->total.end(), parts->begin(parts->rank));
      for (int peer = 0; peer < parts->size; ++peer) {
        if (peer == parts->rank) continue;
        group.receive(requests, parts->begin(peer), parts->length(peer), MPI_FLOAT, peer, parts->tag);
        group.send(requests, parts->total.data(), parts->total.size(), MPI_FLOAT, peer, parts->tag);
      }
    };
    finishing_ = group_.post({.start = start, .complete = [parts = parts_] { parts->empty = true; }});
  }

  void wait_finished() override {
    if (finishing_) group_.wait(finishing_);
    finishing_.reset();
  }

 private:
  MpiProcessGroup& group_;
  std::shared_ptr<BucketParts> parts_;
  ExchangePtr adding_, finishing_;
};

std::unique_ptr<BucketSum> MpiProcessGroup::make_bucket(torch::Tensor values) {
  return std::make_unique<MpiBucketSum>(*this, std::move(values), buckets_++);
}

}  // namespace

std::unique_ptr<ProcessGroup> make_mpi_process_group(const LaunchedProcess& process, int64_t timeout, OnLost on_lost) {
  return std::make_unique<MpiProcessGroup>(process, timeout, std::move(on_lost));
}

}  // namespace nmt

#else

namespace nmt {

std::unique_ptr<ProcessGroup> make_mpi_process_group(const LaunchedProcess& process, int64_t, OnLost) {
  throw Error(
      fmt::format("{} started {} processes, but this program is built without MPI: install Open MPI (Debian: "
                  "libopenmpi-dev, openmpi-bin), configure and build again",
                  process.launcher, process.size));
}

}  // namespace nmt

#endif
