#include "models/search/device_model.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "models/search/check_operations.h"

namespace nmt {

bool DeviceModel::search_by_itself(SearchQueue& queue, int64_t batch_size, const SearchOptions& options) {
  if (!DeviceSearch::supports(options)) return false;
  own_.search(queue, batch_size, options,
              [&](SearchQueue& others) { nmt::search(plain_, others, batch_size, options); });
  return true;
}

std::unique_ptr<DeviceSearch> make_device_search(std::span<const SearchModel> models) {
  auto& model = *models.front().model;
  const auto device = device_of(model);
  if (models.size() > 1 || !device.is_cuda()) return nullptr;
  for (const auto& parameter : model.parameters())
    if (parameter.scalar_type() != torch::kBFloat16) return nullptr;
  auto weights = search_weights(model, DeviceSearch::kTargetWords);
  if (!weights) return nullptr;
  const int64_t head_dim = weights->width / weights->heads;
  if ((head_dim != 64 && head_dim != 128) || weights->width > 1024 || weights->vocabulary > kMostWords) return nullptr;
  auto operations = checked_search_operations(device);
  if (!operations) return nullptr;
  spdlog::info("{}: greedy and beam search by kernels of its own", device.str());
  return std::make_unique<DeviceSearch>(models.front(), std::move(weights), std::move(operations));
}

}  // namespace nmt
