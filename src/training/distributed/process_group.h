#pragma once

#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nmt {

/// One part of the gradients on its way to the sum over all processes. What it does, it does in the background; the
/// processes call the same operations of the same buckets in the same order.
class BucketSum {
 public:
  virtual ~BucketSum() = default;
  /// Starts to add the values of processes 0 .. contributors - 1 to the total; the others' are not looked at.
  virtual void add(int64_t contributors) = 0;
  /// Until it returns after an add, the values must stay as they are.
  virtual void wait_added() = 0;
  /// Starts to replace the values by the total, on every process. The next add begins a new total.
  virtual void finish() = 0;
  virtual void wait_finished() = 0;
};

/// A tensor that one process of a group has for others.
struct OwnedTensor {
  torch::Tensor values;  ///< contiguous, of the same size and type with its owner and with who gets it
  int64_t owner = 0;     ///< a rank
};
enum class Receivers { kAll, kLeader };

/// The processes of a data-parallel run, seen from one of them. Every process calls the same operations in the same
/// order. A process that is lost ends the others (OnLost); one that destroys its group while an exception flies tells
/// the others, which end too.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int64_t rank() const = 0;  ///< 0 .. size() - 1
  virtual int64_t size() const = 0;
  bool leads() const { return rank() == 0; }  ///< the one that writes files, validates and logs

  /// Replaces each value by its sum over all processes, in the order of their ranks. Waits for all of them.
  virtual void sum(std::span<double> values) = 0;

  /// Values are flat float32 on the device of this process and outlive the bucket. Waits for nobody.
  virtual std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) = 0;
  /// Whether a total is summed in the order of adds and of ranks within an add, ((0 + 1) + 2) + ...: then the bits of a
  /// total over all micro-batches do not depend on the number of processes. Otherwise one add an update is cheaper.
  virtual bool adds_in_order() const = 0;

  /// Fills each tensor of the receivers with what its owner has there, bit by bit; they wait for it. Tensors lie where
  /// the group's buckets do. Where only the leader receives, one of another
  /// process is of the device meta on the others: it has a size and no memory.
  virtual void hand_over(std::span<const OwnedTensor> tensors, Receivers receivers) = 0;

  /// While it is on, this process counts as hung when it shows no progress for run.process_timeout; any call of the
  /// group is progress. Off in what may take long: reading, validation, saving.
  virtual void expect_progress(bool /*on*/) {}
  virtual void show_progress() {}

  /// The leader's text, on every process.
  std::string share(const std::string& text);
  void wait_for_all() { sum({}); }
};

/// A run of one process.
class SingleProcess final : public ProcessGroup {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  void sum(std::span<double>) override {}
  std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) override;  ///< there is nobody to sum with: throws
  bool adds_in_order() const override { return true; }
  void hand_over(std::span<const OwnedTensor>, Receivers) override {}
};

/// What ends the program when another process is lost: gets one line that names it, is called on a thread of the group
/// and does not return.
using OnLost = std::function<void(const std::string& line)>;

/// Threads of this process where the user did not say: all processors that it may run on, shared out to the processes
/// of this machine that may run on the same ones; the same number for every process.
int default_threads_of(ProcessGroup& group);

/// What a process tells the others of itself, again and again.
enum class LifeSign : int32_t {
  kAtWork,
  kFailed,  ///< it ends by an error
  kHung,    ///< its main thread shows no progress where it should
  kDone     ///< it has no more to do with the others
};

/// Watches the life signs of the other processes. Times are seconds of one clock that never goes back.
class PeerWatch {
 public:
  PeerWatch(int64_t rank, int64_t size, double timeout, double now);

  void heard(int64_t peer, LifeSign sign, double now);
  bool all_done() const;
  double interval() const;  ///< seconds between life signs

  /// One line that names a process that is lost; to be asked at least every interval(). A process that was itself
  /// stopped for a while blames nobody for the silence of that time. One that failed or hangs has a few seconds to
  /// speak for itself; of several that miss the same one, the first speaks and the others hold back for a second.
  std::optional<std::string> lost(double now);

 private:
  struct Peer {
    LifeSign sign = LifeSign::kAtWork;
    double heard = 0;  ///< the last sign, or when it became what it is
  };
  bool silent(const Peer& peer, double now) const;

  int64_t rank_;
  double timeout_, asked_;
  std::vector<Peer> peers_;
};

/// The progress of this process's main thread, which another thread looks at.
class OwnProgress {
 public:
  void expect(bool on, double now) { show(now), expected_ = on; }
  void show(double now) { last_ = now; }
  void wait(bool on, double now) { show(now), waiting_ = on; }  ///< for the others: no fault of its own
  bool hung(double now, double timeout) const { return expected_ && !waiting_ && now - last_ > timeout; }

 private:
  std::atomic<bool> expected_ = false, waiting_ = false;
  std::atomic<double> last_ = 0;
};

/// The line of a process that hangs itself.
std::string own_hang(int64_t rank, double timeout);

}  // namespace nmt
