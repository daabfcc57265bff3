#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "training/distributed/process_group.h"

namespace nmt::test {

/// A group whose processes are threads of this one: sums in the order of ranks, everybody waits for everybody.
class ThreadProcesses {
 public:
  explicit ThreadProcesses(int64_t size, bool in_order = true)
      : in_order_(in_order), all_(size), values_(size), buckets_(size), owned_(size) {}

  /// Runs `body` once for each process; rethrows the exception of the first that threw. All or none may throw.
  void run(const std::function<void(ProcessGroup&)>& body) {
    std::vector<std::exception_ptr> errors(values_.size());
    {
      std::vector<std::jthread> threads;
      for (size_t rank = 0; rank < values_.size(); ++rank)
        threads.emplace_back([&, rank] {
          try {
            Group group(*this, static_cast<int64_t>(rank));
            body(group);
          } catch (...) {
            errors[rank] = std::current_exception();
          }
        });
    }
    for (const auto& error : errors)
      if (error) std::rethrow_exception(error);
  }

  int64_t adds = 0;  ///< of rank 0's buckets

 private:
  class Group final : public ProcessGroup {
   public:
    Group(ThreadProcesses& processes, int64_t rank) : processes_(processes), rank_(rank) {}
    int64_t rank() const override { return rank_; }
    int64_t size() const override { return std::ssize(processes_.values_); }
    bool adds_in_order() const override { return processes_.in_order_; }
    void sum(std::span<double> values) override {
      processes_.values_[rank_] = values;
      processes_.all_.arrive_and_wait();
      std::vector<double> sums(values.size());
      for (const auto& given : processes_.values_)
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += given[i];
      processes_.all_.arrive_and_wait();
      std::copy(sums.begin(), sums.end(), values.begin());
    }
    std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) override;
    void hand_over(std::span<const OwnedTensor> tensors, Receivers receivers) override {
      processes_.owned_[rank_] = tensors;
      processes_.all_.arrive_and_wait();
      if (receivers == Receivers::kAll || leads())
        for (size_t i = 0; i < tensors.size(); ++i) {
          const auto& [values, owner] = processes_.owned_[tensors[i].owner][i];
          if (owner != rank_)
            std::memcpy(tensors[i].values.mutable_data_ptr(), values.const_data_ptr(), values.nbytes());
        }
      processes_.all_.arrive_and_wait();
    }

   private:
    ThreadProcesses& processes_;
    int64_t rank_;
  };

  class Bucket final : public BucketSum {
   public:
    Bucket(ThreadProcesses& processes, int64_t rank, torch::Tensor values)
        : processes_(processes), rank_(rank), values_(std::move(values)) {}
    void add(int64_t contributors) override {
      if (rank_ == 0) ++processes_.adds;
      processes_.buckets_[rank_] = values_.data_ptr<float>();
      processes_.all_.arrive_and_wait();
      for (int64_t peer = 0; peer < contributors; ++peer) {
        const float* given = processes_.buckets_[peer];
        if (total_.empty())
          total_.assign(given, given + values_.numel());
        else
          for (size_t i = 0; i < total_.size(); ++i) total_[i] += given[i];
      }
      processes_.all_.arrive_and_wait();
    }
    void wait_added() override {}
    void finish() override {
      std::copy(total_.begin(), total_.end(), values_.data_ptr<float>());
      total_.clear();
    }
    void wait_finished() override {}

   private:
    ThreadProcesses& processes_;
    int64_t rank_;
    torch::Tensor values_;
    std::vector<float> total_;
  };

  bool in_order_;
  std::barrier<> all_;
  // What each process shows the others.
  std::vector<std::span<double>> values_;
  std::vector<const float*> buckets_;
  std::vector<std::span<const OwnedTensor>> owned_;
};

inline std::unique_ptr<BucketSum> ThreadProcesses::Group::make_bucket(torch::Tensor values) {
  return std::make_unique<Bucket>(processes_, rank_, std::move(values));
}

}  // namespace nmt::test
