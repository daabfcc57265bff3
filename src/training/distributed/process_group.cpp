#include "training/distributed/process_group.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/random.h"
#include "base/threads.h"

namespace nmt {
namespace {

// Processes that may run on the same processors have the same number; 52 bits, which a double holds.
double processors_key() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  uint64_t key = 1;
  for (const char c : host) key = mix64(key ^ static_cast<uint8_t>(c));
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) key = mix64(key ^ static_cast<uint64_t>(processor + 1));
  return static_cast<double>(key >> 12);
}

/// One value of each process.
std::vector<double> all_values(ProcessGroup& group, double own) {
  std::vector<double> values(group.size());
  values[group.rank()] = own;
  group.sum(values);
  return values;
}

}  // namespace

std::string ProcessGroup::share(const std::string& text) {
  double size = leads() ? static_cast<double>(text.size()) : 0;
  sum({&size, 1});
  std::vector<double> letters(static_cast<size_t>(size));
  if (leads())
    std::transform(text.begin(), text.end(), letters.begin(), [](char c) { return static_cast<uint8_t>(c); });
  sum(letters);
  std::string shared(letters.size(), ' ');
  std::transform(letters.begin(), letters.end(), shared.begin(),
                 [](double c) { return static_cast<char>(static_cast<uint8_t>(c)); });
  return shared;
}

std::unique_ptr<BucketSum> SingleProcess::make_bucket(torch::Tensor) {
  throw std::logic_error("one process has nobody to sum with");
}

int default_threads_of(ProcessGroup& group) {
  const double own = processors_key();
  const auto keys = all_values(group, own);
  const auto sharing = std::max<int64_t>(1, std::count(keys.begin(), keys.end(), own));
  const auto threads = all_values(group, std::max<double>(1, static_cast<double>(default_threads() / sharing)));
  return static_cast<int>(*std::min_element(threads.begin(), threads.end()));
}

namespace {

constexpr double kSpeaksForItself = 5, kOneSpeaks = 1;  // seconds
constexpr const char* kResumes = "started again, the run resumes from its last checkpoint";

}  // namespace

PeerWatch::PeerWatch(int64_t rank, int64_t size, double timeout, double now)
    : rank_(rank), timeout_(timeout), asked_(now), peers_(size, Peer{.heard = now}) {}

double PeerWatch::interval() const { return std::min(1.0, timeout_ / 10); }

void PeerWatch::heard(int64_t peer, LifeSign sign, double now) {
  auto& known = peers_[peer];
  if (sign != known.sign || sign == LifeSign::kAtWork) known.heard = now;
  known.sign = sign;
}

bool PeerWatch::all_done() const {
  for (int64_t peer = 0; peer < std::ssize(peers_); ++peer)
    if (peer != rank_ && peers_[peer].sign != LifeSign::kDone) return false;
  return true;
}

bool PeerWatch::silent(const Peer& peer, double now) const {
  return peer.sign == LifeSign::kAtWork && now - peer.heard > timeout_;
}

std::optional<std::string> PeerWatch::lost(double now) {
  if (now - asked_ > timeout_ / 2)
    for (auto& peer : peers_) peer.heard += now - asked_;
  asked_ = now;
  peers_[rank_].heard = now;
  const auto first = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) { return !silent(peer, now); });
  const double patience = first - peers_.begin() == rank_ ? 0 : kOneSpeaks;
  for (int64_t peer = 0; peer < std::ssize(peers_); ++peer) {
    const auto& [sign, heard] = peers_[peer];
    if (peer == rank_) continue;
    if (silent(peers_[peer], now - patience))
      return fmt::format(
          "rank {} has not answered for {:g} s (run.process_timeout): it is dead, stopped or cut off; {}", peer,
          timeout_, kResumes);
    if (now - heard < kSpeaksForItself) continue;
    if (sign == LifeSign::kFailed)
      return fmt::format("rank {} has ended with an error, see its own line; {}", peer, kResumes);
    if (sign == LifeSign::kHung)
      return fmt::format("rank {} made no progress in an update for {:g} s (run.process_timeout); {}", peer, timeout_,
                         kResumes);
  }
  return std::nullopt;
}

std::string own_hang(int64_t rank, double timeout) {
  return fmt::format("rank {} (this one) made no progress in an update for {:g} s (run.process_timeout); {}", rank,
                     timeout, kResumes);
}

}  // namespace nmt
