#include "nn/decode/make_key_value_cache.h"

#include "nn/decode/cpu_cache.h"
#include "nn/decode/plain_cache.h"
#include "nn/decode/static_cache.h"

namespace nmt {

std::unique_ptr<KeyValueCache> make_key_value_cache(const CacheOptions& options, const AttentionForm& form) {
  if (options.form == CacheForm::kStatic) return std::make_unique<StaticKeyValueCache>(options.slot, form);
  if (options.form == CacheForm::kCpu && form.fits_kernel()) return std::make_unique<CpuKeyValueCache>(form);
  return std::make_unique<PlainKeyValueCache>(form);
}

std::unique_ptr<SourceCache> make_source_cache(CacheForm form, const torch::Tensor& keys_and_values,
                                               const AttentionForm& attention) {
  if (form == CacheForm::kCpu && attention.fits_kernel())
    return std::make_unique<CpuSourceCache>(keys_and_values, attention);
  return std::make_unique<PlainSourceCache>(keys_and_values, attention);
}

}  // namespace nmt
