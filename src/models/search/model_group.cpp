#include "models/search/model_group.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "models/search/device_model.h"
#include "models/search/hypothesis_attention.h"
#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "search/plain_step.h"

namespace nmt {
namespace {

/// Evaluation mode for one scope; restores what it found.
class EvalModeGuard {
 public:
  explicit EvalModeGuard(std::span<const SearchModel> models) {
    for (const auto& one : models)
      if (one.model->is_training()) training_.push_back(one.model);
    for (auto* model : training_) model->eval();
  }
  ~EvalModeGuard() {
    for (auto* model : training_) model->train();
  }
  EvalModeGuard(const EvalModeGuard&) = delete;
  EvalModeGuard& operator=(const EvalModeGuard&) = delete;

 private:
  std::vector<TranslationModel*> training_;
};

class TorchGroup final : public SearchGroup {
 public:
  explicit TorchGroup(std::vector<SearchModel> models) : models_(std::move(models)) {}

  int64_t worker_limit() const override { return models_.front().model->is_on_cpu() ? at::get_num_threads() : 1; }

  void search(int64_t workers, const std::function<void(DecodingModel&)>& work) override {
    const c10::NoGradGuard no_gradients;
    const EvalModeGuard evaluation(models_);
    std::call_once(weights_known_, [this] {
      plain_weights_ = plain_weights(models_);
      device_search_ = make_device_search(models_);
    });
    const auto work_here = [&] {
      const c10::NoGradGuard no_gradients_here;
      try {
        if (device_search_) {
          DeviceModel by_itself(models_, *device_search_);
          work(by_itself);
        } else {
          work(*make_decoding_model(models_, plain_weights_));
        }
      } catch (const std::exception& error) {
        if (!is_out_of_memory(error)) throw;
        throw std::bad_alloc();
      }
    };
    if (workers == 0) {
      const ThreadLimit alone(1);
      return work_here();
    }
    if (workers == 1) return work_here();
    at::parallel_for(0, workers, 1, [&](int64_t, int64_t) { work_here(); });
  }

  bool has_alignment(const SearchOptions& options) override {
    const c10::NoGradGuard no_gradients;
    const EvalModeGuard evaluation(models_);
    return nmt::has_alignment(models_.front(), options);
  }

 private:
  std::vector<SearchModel> models_;
  std::once_flag weights_known_;
  std::shared_ptr<const inference::TransformerWeights> plain_weights_;  // since its first search,
  std::unique_ptr<DeviceSearch> device_search_;                         // as this
};

}  // namespace

bool TranslationModel::is_on_cpu() const { return device_of(*this).is_cpu(); }

std::unique_ptr<SearchGroup> TranslationModel::group(std::span<const SearchMember> members) {
  std::vector<SearchModel> models;
  for (const auto& [model, source_form, weight] : members)
    models.push_back({&dynamic_cast<TranslationModel&>(*model), source_form, weight});
  return std::make_unique<TorchGroup>(std::move(models));
}

std::shared_ptr<const inference::TransformerWeights> plain_weights(std::span<const SearchModel> models) {
  std::string reason = "an ensemble";
  if (models.size() == 1) {
    try {
      return models.front().model->inference_weights();
    } catch (const inference::Unsupported& part) {
      reason = part.what();
    }
  }
  spdlog::debug("searches by LibTorch: {}", reason);
  return nullptr;
}

std::unique_ptr<DecodingModel> make_decoding_model(std::span<const SearchModel> models,
                                                   std::shared_ptr<const inference::TransformerWeights> plain) {
  if (!plain) return std::make_unique<TorchModels>(models);
  const SearchModel& only = models.front();
  return std::make_unique<PlainModel>(only.source_form, std::move(plain), may_share() ? &step_threads() : nullptr,
                                      [&only](auto sentences, const auto& options, auto& results) {
                                        add_attention(only, sentences, options, results);
                                      });
}

}  // namespace nmt
