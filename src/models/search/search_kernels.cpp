#include "models/search/search_kernels.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {
namespace {

static_assert(SpecialIds::kPad == 0 && SpecialIds::kBegin == 2 && SpecialIds::kEnd == 3, "kernels/search.py");
static_assert(static_cast<int>(Stopping::kHeuristic) == 0 && static_cast<int>(Stopping::kFirst) == 2,
              "kernels/search.py");

unsigned blocks(int64_t size, int64_t each) { return static_cast<unsigned>((size + each - 1) / each); }
int32_t number(int64_t value) { return static_cast<int32_t>(value); }
const void* address(const torch::Tensor& x) { return x.const_data_ptr(); }

class KernelOperations final : public SearchOperations {
 public:
  KernelOperations(DeviceKernels& kernels, torch::Device device)
      : kernels_(kernels), no_key_(at::zeros({1}, torch::TensorOptions(torch::kInt64).device(device))) {}

  torch::Tensor embed(const BeamTensors& beams, const torch::Tensor& table, const torch::Tensor& positions,
                      double scale) override {
    const int64_t rows = beams.words.size(0), width = table.size(1);
    const auto out = at::empty({rows, width}, table.options());
    constexpr auto kName = "embedding_forward";
    launch(kName, {blocks(rows, constant(kName, "ROWS")), blocks(width, constant(kName, "BLOCK")), 1},
           {address(beams.words), address(beams.positions), address(table), address(positions), address(out),
            number(rows), number(width), 1, static_cast<float>(scale), 0.0F, address(no_key_), 0});
    return out;
  }

  Normalised normalise(const torch::Tensor& x, const torch::Tensor& r, const torch::Tensor& r_bias,
                       const SearchNorm& norm) override {
    const int64_t rows = x.size(0), width = x.size(1);
    const auto name = fmt::format("residual_norm_forward_{}", width <= 256 ? 256 : width <= 512 ? 512 : 1024);
    const bool adds = r.defined();
    const auto normal = at::empty_like(x), sum = adds ? at::empty_like(x) : x;
    const auto statistics = at::empty({rows, 2}, x.options().dtype(torch::kFloat32));
    launch(name, {blocks(rows, constant(name, "ROWS")), 1, 1},
           {address(x), address(adds ? r : x), address(adds ? r_bias : norm.bias), address(norm.weight),
            address(norm.bias), address(sum), address(normal), address(statistics), number(rows), number(width),
            adds ? 1 : 0, norm.centred ? 1.0F : 0.0F, static_cast<float>(norm.epsilon), 0.0F, address(no_key_), 0});
    return {sum, normal};
  }

  torch::Tensor attend_to_past(const torch::Tensor& qkv, const torch::Tensor& cache, const BeamTensors& beams,
                               int64_t heads) override {
    const int64_t rows = qkv.size(0), width = qkv.size(1) / 3;
    const auto out = at::empty({rows, width}, qkv.options());
    launch(fmt::format("self_attention_step_{}", width / heads),
           {static_cast<unsigned>(rows), static_cast<unsigned>(heads), 1},
           {address(qkv), address(cache), address(beams.ancestors), address(beams.positions), address(out),
            number(cache.size(1)), number(beams.capacity()), scale(width / heads)});
    return out;
  }

  torch::Tensor attend_to_source(const torch::Tensor& q, const torch::Tensor& keys_and_values, const BeamTensors& beams,
                                 int64_t heads) override {
    const int64_t sentences = beams.sources.size(0), width = q.size(1);
    const auto out = at::empty_like(q);
    launch(fmt::format("source_attention_step_{}", width / heads),
           {static_cast<unsigned>(sentences), static_cast<unsigned>(heads), 1},
           {address(q), address(keys_and_values), address(beams.sources), address(out), number(beams.beam),
            number(keys_and_values.stride(0)), scale(width / heads)});
    return out;
  }

  void choose(const torch::Tensor& logits, int64_t vocabulary, const BeamTensors& beams) override {
    const int64_t rows = logits.size(0), count = beams.beam + 1;
    const char* kind = beams.beam == 1 ? "1" : beams.beam <= 4 ? "4" : "8";
    const auto first = fmt::format("best_of_parts_{}", kind), second = fmt::format("choose_beams_{}", kind);
    const int64_t parts = blocks(vocabulary, constant(first, "BLOCK"));
    const auto floats = logits.options().dtype(torch::kFloat32);
    const auto values = at::empty({rows, parts, constant(first, "K")}, floats);
    const auto words = at::empty(values.sizes(), floats.dtype(torch::kInt32));
    const auto sums = at::empty({rows, parts, 2}, floats);
    launch(first, {static_cast<unsigned>(rows), static_cast<unsigned>(parts), 1},
           {address(logits), address(values), address(words), address(sums), number(vocabulary), number(logits.size(1)),
            number(count)});
    launch(second, {static_cast<unsigned>(beams.sentences.size(0)), 1, 1},
           {address(values), address(words), address(sums), address(beams.totals), address(beams.words),
            address(beams.positions), address(beams.ancestors), address(beams.history), address(beams.ended),
            address(beams.penalties), address(beams.sentences), number(beams.beam), number(beams.capacity()),
            number(parts), number(count), number(vocabulary), static_cast<int32_t>(beams.stopping)});
  }

 private:
  static float scale(int64_t head_dim) { return static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim))); }
  int constant(const std::string& name, const char* which) const { return kernels_.find(name)->constants.at(which); }
  void launch(const std::string& name, std::array<unsigned, 3> grid, const std::vector<KernelArgument>& arguments) {
    kernels_.launch(name, grid, arguments);
  }

  DeviceKernels& kernels_;
  torch::Tensor no_key_;  // of dropout, which drops nothing
};

}  // namespace

std::unique_ptr<SearchOperations> kernel_search_operations(DeviceKernels& kernels, torch::Device device) {
  return std::make_unique<KernelOperations>(kernels, device);
}

}  // namespace nmt
