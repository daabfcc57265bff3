#include "training/distributed/peer_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace nmt {
namespace {

constexpr double kSpeaksForItself = 5, kOneSpeaks = 1;  // seconds
constexpr const char* kGoesOn = "started again, the run goes on from its last checkpoint";

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
          timeout_, kGoesOn);
    if (now - heard < kSpeaksForItself) continue;
    if (sign == LifeSign::kFailed)
      return fmt::format("rank {} has ended with an error, see its own line; {}", peer, kGoesOn);
    if (sign == LifeSign::kHung)
      return fmt::format("rank {} made no progress in an update for {:g} s (run.process_timeout); {}", peer, timeout_,
                         kGoesOn);
  }
  return std::nullopt;
}

std::string own_hang(int64_t rank, double timeout) {
  return fmt::format("rank {} (this one) made no progress in an update for {:g} s (run.process_timeout); {}", rank,
                     timeout, kGoesOn);
}

}  // namespace nmt
