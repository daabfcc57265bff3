#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/interface/safetensors.h"
#include "training/distributed/process_group.h"

namespace nmt {

/// The sum of gradients over the processes of a group, sent off in buckets while the backward pass still works on
/// others. Of a round of micro-batches, one a process, the first `contributors` processes have one each:
///   for each round: begin_round(contributors, last); backward() of this process's batch, if any; end_round()
///   finish()
/// Afterwards every process has the same gradients in its parameters: those that one process has that goes through all
/// batches, in the same bits where the group adds in order (process_group.h). A parameter that no batch has a gradient
/// for has none. While it lives, the gradients of these parameters belong to it: they are cleared as they are taken,
/// and the sums lie in its memory until the next round.
class GradientBuckets {
 public:
  /// parameters: float32 leaves on one device, the same ones in the same order on every process. bucket_bytes: a bucket
  /// is sent when it has so much, or is one larger parameter.
  GradientBuckets(const NamedTensors& parameters, ProcessGroup& group, int64_t bucket_bytes = 8 << 20);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;

  ProcessGroup& group() { return group_; }
  void begin_round(int64_t contributors, bool last);
  void end_round();
  void finish();

 private:
  struct Parameter {
    torch::Tensor leaf;
    size_t bucket = 0;
    torch::Tensor place = {};  ///< of its gradient in the bucket
    torch::Tensor count = {};  ///< [1] of the bucket's counts
    bool taken = false;        ///< in this round
  };
  struct Bucket {
    torch::Tensor counts;  ///< behind the gradients, float32: in how many batches each parameter had one
    std::unique_ptr<BucketSum> sum;
    int64_t parameters = 0, missing = 0;
  };
  class Hook;

  void lay_out(size_t first, size_t end);
  void take(size_t parameter);
  void put(Parameter& parameter);
  void send_full_ones();

  ProcessGroup& group_;
  std::vector<Parameter> parameters_;  ///< in the order in which a backward pass is expected to reach them
  std::vector<Bucket> buckets_;
  size_t sent_ = 0;  ///< buckets of this round: in their order on every process
  int64_t contributors_ = 0;
  bool open_ = false;  ///< a round is under way and gives its gradients away
};

}  // namespace nmt
