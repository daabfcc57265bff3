#include "search/source_tensors.h"

#include <algorithm>

#include "nn/device/device.h"
#include "text/tokenizer.h"

namespace nmt {

SourceTensors to_source_tensors(std::span<const std::vector<int32_t>* const> sources, const SourceForm& form,
                                torch::Device device) {
  int64_t width = 0;
  for (const auto* source : sources) width = std::max(width, source_length(std::ssize(*source), form.markers));
  const int64_t batch = std::ssize(sources);
  const auto ids = torch::full({batch, width}, int64_t{SpecialIds::kPad}, torch::kLong);
  const auto lengths = torch::empty({batch}, torch::kLong);
  for (int64_t i = 0; i < batch; ++i) {
    write_source(*sources[i], form, ids.data_ptr<int64_t>() + i * width);
    lengths.data_ptr<int64_t>()[i] = source_length(std::ssize(*sources[i]), form.markers);
  }
  return {copy_to_device(ids, device), lengths};
}

}  // namespace nmt
