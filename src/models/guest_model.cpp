#include "models/guest_model.h"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"

namespace nmt {
namespace {

class GuestGroup final : public SearchGroup {
 public:
  GuestGroup(std::unique_ptr<SearchGroup> group, int threads) : group_(std::move(group)), threads_(threads) {}

  int64_t worker_limit() const override {
    const ThreadLimit threads(threads_);
    return group_->worker_limit();
  }
  void search(int64_t workers, const std::function<void(DecodingModel&)>& work) override {
    const OwnTorchSettings settings;
    const ThreadLimit threads(threads_);
    group_->search(workers, work);
  }
  bool has_alignment(const SearchOptions& options) override {
    const OwnTorchSettings settings;
    const ThreadLimit threads(threads_);
    return group_->has_alignment(options);
  }

 private:
  std::unique_ptr<SearchGroup> group_;
  int threads_;
};

/// "2.12.0" of "... TORCH_VERSION=2.12.0, USE_CUDA=..."; empty where it does not say.
std::string version_in(std::string_view settings) {
  constexpr std::string_view kName = "TORCH_VERSION=";
  const size_t at = settings.find(kName);
  if (at == std::string_view::npos) return "";
  const auto rest = settings.substr(at + kName.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

}  // namespace

void require_matching_torch() {
  static const std::string loaded = version_in(at::show_config());
  const std::string own = fmt::format("{}.{}.", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);  // patches have one ABI
  if (loaded.empty() || loaded.starts_with(own)) return;
  throw Error(
      fmt::format("this process has loaded LibTorch {}, but libnmt_torch.so was built with {}: build it with that one, "
                  "or work in a process that loads no other",
                  loaded, TORCH_VERSION));
}

std::unique_ptr<SearchGroup> GuestModel::group(std::span<const SearchMember> members) {
  const OwnTorchSettings settings;
  const ThreadLimit threads(threads_);
  std::vector<SearchMember> inner;
  for (auto member : members) {
    member.model = dynamic_cast<GuestModel&>(*member.model).model_.get();
    inner.push_back(member);
  }
  return std::make_unique<GuestGroup>(model_->group(inner), threads_);
}

std::vector<AttentionLayer> GuestModel::attention_layers(std::span<const int64_t> source,
                                                         std::span<const int64_t> target_in) {
  const OwnTorchSettings settings;
  const ThreadLimit threads(threads_);
  return model_->attention_layers(source, target_in);
}

}  // namespace nmt
