#include "text/corpus/sentence_sample.h"

namespace nmt {
namespace {

constexpr uint64_t kPurpose = 0x73616d706c65;  // "sample": apart from other uses of the run's seed

}  // namespace

SentenceSample::SentenceSample(int64_t capacity, uint64_t seed) : capacity_(capacity), random_({kPurpose, seed}) {}

void SentenceSample::offer(std::string_view line) {
  ++offered_;
  if (capacity_ == 0 || offered_ <= capacity_) {
    lines_.emplace_back(line);
    return;
  }
  const uint64_t slot = random_.below(static_cast<uint64_t>(offered_));
  if (slot < static_cast<uint64_t>(capacity_)) lines_[slot] = line;
}

}  // namespace nmt
