#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nmt {

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
