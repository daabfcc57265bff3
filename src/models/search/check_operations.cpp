#include "models/search/check_operations.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/process/log.h"
#include "models/search/search_kernels.h"
#include "nn/device/device.h"
#include "nn/device/recorded_graph.h"
#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace nmt {
namespace {

constexpr double kRounding = 1e-2;  // of bfloat16, relative to the whole tensor
constexpr double kRoundingOfScores = 1e-5;
constexpr int64_t kCapacity = 70;

/// Random input, the same at each run, and what is compared.
class Check {
 public:
  Check(SearchOperations& operations, torch::Device device)
      : operations_(operations), device_(device), random_(at::detail::createCPUGenerator(1)) {}

  void norms(int64_t width) {
    const auto x = half({9, width}), r = half({9, width});
    for (const bool adds : {false, true}) {
      const SearchNorm norm{floats({width}), floats({width}), 1e-5, adds};
      const auto bias = floats({width});
      const auto got = operations_.normalise(x, adds ? r : torch::Tensor(), bias, norm);
      const auto expected = plain_->normalise(x, adds ? r : torch::Tensor(), bias, norm);
      compare("a norm", got.normal, expected.normal, kRounding);
      compare("a sum", got.sum, expected.sum, kRounding);
    }
  }

  // The first run is not of the recording.
  void recording() {
    const auto x = half({5, 256}), r = half({5, 256}), bias = floats({256});
    const SearchNorm norm{floats({256}), floats({256}), 1e-5, true};
    RecordedGraph graph(device_);
    torch::Tensor found;
    for (int i = 0; i < 3; ++i) {
      x.copy_(half({5, 256}));
      graph.run([&] { found = operations_.normalise(x, r, bias, norm).normal; });
    }
    compare("recorded norms", found, plain_->normalise(x, r, bias, norm).normal, kRounding);
  }

  void attention(int64_t head_dim) {
    const int64_t heads = 2, width = heads * head_dim, sentences = 4, beam = 3, rows = sentences * beam;
    auto beams = some_beams(sentences, beam);
    beams.positions.copy_(at::arange(rows).mul(13).remainder(kCapacity - 1));
    const auto table = half({50, width}), position_table = half({kCapacity, width});
    compare("embeddings", operations_.embed(beams, table, position_table, 1.5),
            plain_->embed(beams, table, position_table, 1.5), kRounding);
    const auto cache = half({kCapacity, rows + 5, 2 * width}), twin = cache.clone();
    const auto qkv = half({rows, 3 * width});
    compare("self-attention", operations_.attend_to_past(qkv, cache, beams, heads),
            plain_->attend_to_past(qkv, twin, beams, heads), kRounding);
    compare("keys and values", cache, twin, 0);
    beams.sources.copy_(torch::tensor({7, 33, 0, 1, 40, 64, 2, 17}).view({sentences, 2}));
    const auto source = half({110, 4 * width}).narrow(1, 2 * width, 2 * width);
    const auto q = half({rows, width});
    compare("attention to the source", operations_.attend_to_source(q, source, beams, heads),
            plain_->attend_to_source(q, source, beams, heads), kRounding);
  }

  void choice(int64_t beam, Stopping stopping) {
    constexpr int64_t kSentences = 3, kVocabulary = 4100, kStride = 4112;
    auto beams = some_beams(kSentences, beam);
    beams.stopping = stopping;
    beams.penalties.copy_(at::arange(kCapacity + 1, torch::kFloat64).add(5).div(6).pow(0.6));
    const double nothing = -std::numeric_limits<double>::infinity();
    beams.totals.fill_(nothing).view({kSentences, beam}).select(1, 0).zero_();
    beams.ended.zero_().select(1, kScore).fill_(nothing);
    beams.ended.select(1, kArrival).copy_(at::arange(kSentences * beam).add(kNoArrival));
    for (int64_t i = 0; i < kSentences; ++i) {
      const int32_t row[] = {kRunning, 0, static_cast<int32_t>(3 + 2 * i), 1, 0, 0, 0, 0};
      beams.sentences[i].copy_(torch::tensor(at::ArrayRef<int32_t>(row)));
    }
    auto twin = beams;
    for (auto* x :
         {&twin.sentences, &twin.totals, &twin.words, &twin.positions, &twin.ancestors, &twin.history, &twin.ended})
      *x = x->clone();
    for (int64_t step = 0; step < 8; ++step) {
      const auto logits = half({kSentences * beam, kStride}).mul_(3);
      logits.select(1, 3).copy_(logits.narrow(1, 4, 4000).amax(1));  // </s>
      operations_.choose(logits, kVocabulary, beams);
      plain_->choose(logits, kVocabulary, twin);
      compare("states", beams.sentences, twin.sentences, 0);
      compare("words", beams.words, twin.words, 0);
      compare("positions", beams.positions, twin.positions, 0);
      compare("ancestors", beams.ancestors, twin.ancestors, 0);
      compare("history", beams.history.narrow(2, 0, 2), twin.history.narrow(2, 0, 2), 0);
      compare("log-probabilities", at::nan_to_num(beams.totals, 0, 0, 0), at::nan_to_num(twin.totals, 0, 0, 0),
              kRoundingOfScores);
      // In any order: sums say it.
      compare("finished hypotheses", at::nan_to_num(beams.ended.sum(0), 0, 0, 0),
              at::nan_to_num(twin.ended.sum(0), 0, 0, 0), kRoundingOfScores);
    }
  }

 private:
  torch::Tensor floats(at::IntArrayRef sizes) { return copy_to_device(at::randn(sizes, random_), device_); }
  torch::Tensor half(at::IntArrayRef sizes) { return floats(sizes).to(torch::kBFloat16); }
  torch::Tensor ints(int64_t below, at::IntArrayRef sizes) {
    return copy_to_device(at::randint(below, sizes, random_, torch::kInt32), device_);
  }
  BeamTensors some_beams(int64_t sentences, int64_t beam) {
    auto beams = BeamTensors::make(sentences, beam, kCapacity, device_);
    beams.words.copy_(ints(50, beams.words.sizes()));
    beams.ancestors.copy_(ints(sentences * beam, beams.ancestors.sizes()));
    return beams;
  }

  static void compare(const char* what, const torch::Tensor& got, const torch::Tensor& expected, double bound) {
    const auto difference = (got.to(torch::kFloat64) - expected.to(torch::kFloat64)).norm().item<double>();
    if (difference <= bound * expected.to(torch::kFloat64).norm().item<double>()) return;  // NaN is not
    throw Error(fmt::format("{} of the kernels are not those of LibTorch's operators", what));
  }

  SearchOperations& operations_;
  torch::Device device_;
  at::Generator random_;
  std::unique_ptr<SearchOperations> plain_ = plain_search_operations();
};

#ifdef NMT_WITH_CUDA
std::unique_ptr<DeviceKernels> checked_kernels(torch::Device device) {
  const auto* card = at::cuda::getDeviceProperties(device.index());
  if (card->major < 8) return nullptr;
  try {
    auto kernels = std::make_unique<DeviceKernels>(load_cuda_driver(), device, card->major * 10 + card->minor);
    check_search_operations(*kernel_search_operations(*kernels, device), device);
    spdlog::debug("{}: the kernels of the search are right", device.str());
    return kernels;
  } catch (const std::exception& error) {
    make_logger("device")->warn("{}: searches by LibTorch alone, which is slower: {}", device.str(), error.what());
    return nullptr;
  }
}
#endif

}  // namespace

void check_search_operations(SearchOperations& operations, torch::Device device) {
  const c10::NoGradGuard no_gradients;
  Check check(operations, device);
  for (const int64_t width : {256, 512, 1024}) check.norms(width);
  for (const int64_t head_dim : {64, 128}) check.attention(head_dim);
  check.choice(1, Stopping::kHeuristic);
  check.choice(4, Stopping::kHeuristic);
  check.choice(5, Stopping::kOptimal);
  check.recording();
}

std::unique_ptr<SearchOperations> checked_search_operations([[maybe_unused]] torch::Device device) {
#ifdef NMT_WITH_CUDA
  static std::mutex mutex;
  static auto* cards = new std::map<int, std::unique_ptr<DeviceKernels>>();  // to the end: searches may outlive main()
  if (!device.is_cuda()) return nullptr;
  const std::lock_guard lock(mutex);
  const auto [card, is_new] = cards->try_emplace(device.index());
  if (is_new) card->second = checked_kernels(device);
  if (card->second) return kernel_search_operations(*card->second, device);
#endif
  return nullptr;
}

}  // namespace nmt
