// How the kernels of the search are launched: a driver that reads the arguments by the names that the compiled kernels
// give them, and computes on the CPU what the kernel would. A wrong order, size or pointer gives other results.
#include "models/search/search_kernels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "models/formula_weights.h"
#include "models/search/check_operations.h"
#include "models/search/device_model.h"
#include "search/list_search.h"
#include "support.h"

namespace nmt::search_kernels_test {
namespace {

/// A launch as the driver sees it.
struct Launch {
  Launch(const CompiledKernel& kernel, std::array<int64_t, 3> grid, void** parameters) : kernel(kernel), grid(grid) {
    for (size_t i = 0; i < kernel.parameters.size(); ++i) places[kernel.parameters[i].name] = parameters[i];
  }
  int64_t number(const std::string& name) const { return *static_cast<int32_t*>(places.at(name)); }
  float real(const std::string& name) const { return *static_cast<float*>(places.at(name)); }
  void* address(const std::string& name) const { return *static_cast<void**>(places.at(name)); }
  torch::Tensor tensor(const std::string& name, std::vector<int64_t> sizes, at::ScalarType type) const {
    return at::from_blob(address(name), sizes, type);
  }
  torch::Tensor half(const std::string& name, std::vector<int64_t> sizes) const {
    return tensor(name, std::move(sizes), torch::kBFloat16);
  }
  torch::Tensor floats(const std::string& name, int64_t size) const { return tensor(name, {size}, torch::kFloat32); }
  torch::Tensor ints(const std::string& name, std::vector<int64_t> sizes) const {
    return tensor(name, std::move(sizes), torch::kInt32);
  }
  int64_t blocks(int64_t size, const char* each) const {
    return (size + kernel.constants.at(each) - 1) / kernel.constants.at(each);
  }

  const CompiledKernel& kernel;
  std::array<int64_t, 3> grid;
  std::map<std::string, void*> places;
};

/// The kernels, as they are said to be in kernels/.
class Emulator {
 public:
  void run(const Launch& l) {
    ++launches;
    const auto name = l.kernel.name;
    const auto digits = name.substr(name.find_last_not_of("0123456789") + 1);
    const int64_t size = digits.empty() ? 0 : std::stoll(digits);
    if (name == "embedding_forward") return embed(l);
    if (name.starts_with("residual_norm_forward_")) return normalise(l, size);
    if (name.starts_with("self_attention_step_")) return attend_to_past(l, size);
    if (name.starts_with("source_attention_step_")) return attend_to_source(l, size);
    if (name.starts_with("best_of_parts_")) return best_of_parts(l, size);
    if (name.starts_with("choose_beams_")) return choose(l, size);
    ADD_FAILURE() << name;
  }
  int64_t launches = 0;

 private:
  void embed(const Launch& l) {
    const int64_t rows = l.number("rows"), width = l.number("width");
    EXPECT_EQ(l.grid, (std::array<int64_t, 3>{l.blocks(rows, "ROWS"), l.blocks(width, "BLOCK"), 1}));
    EXPECT_EQ(l.number("has_positions"), 1);
    EXPECT_EQ(l.real("p"), 0);
    BeamTensors beams{.words = l.ints("words", {rows}), .positions = l.ints("positions", {rows})};
    const auto table = l.half("table", {beams.words.max().item<int64_t>() + 1, width});
    const auto positions = l.half("position_table", {beams.positions.max().item<int64_t>() + 1, width});
    l.half("out_ptr", {rows, width}).copy_(plain_->embed(beams, table, positions, l.real("scale")));
  }

  void normalise(const Launch& l, int64_t block) {
    const int64_t rows = l.number("rows"), width = l.number("width");
    EXPECT_LE(width, block);
    EXPECT_EQ(l.grid, (std::array<int64_t, 3>{l.blocks(rows, "ROWS"), 1, 1}));
    EXPECT_EQ(l.real("p"), 0);
    const SearchNorm norm{l.floats("weight_ptr", width), l.floats("bias_ptr", width), l.real("epsilon"),
                          l.real("centred") == 1};
    const bool adds = l.number("has_r") == 1;
    const auto found =
        plain_->normalise(l.half("x_ptr", {rows, width}), adds ? l.half("r_ptr", {rows, width}) : torch::Tensor(),
                          l.floats("r_bias_ptr", width), norm);
    if (adds) l.half("y_ptr", {rows, width}).copy_(found.sum);
    l.half("n_ptr", {rows, width}).copy_(found.normal);
    l.floats("statistics", 2 * rows).zero_();
  }

  void attend_to_past(const Launch& l, int64_t head_dim) {
    const auto [rows, heads, one] = l.grid;
    const int64_t width = heads * head_dim, capacity = l.number("capacity");
    BeamTensors beams{.positions = l.ints("positions", {rows}), .ancestors = l.ints("ancestors", {rows, capacity})};
    EXPECT_FLOAT_EQ(l.real("scale"), 1 / std::sqrt(static_cast<float>(head_dim)));
    const auto found = plain_->attend_to_past(l.half("qkv_ptr", {rows, 3 * width}),
                                              l.half("cache", {capacity, l.number("rows"), 2 * width}), beams, heads);
    l.half("out_ptr", {rows, width}).copy_(found);
  }

  void attend_to_source(const Launch& l, int64_t head_dim) {
    const auto [sentences, heads, one] = l.grid;
    const int64_t width = heads * head_dim, stride = l.number("kv_stride");
    BeamTensors beams{.beam = l.number("beam"), .sources = l.ints("sources", {sentences, 2})};
    EXPECT_FLOAT_EQ(l.real("scale"), 1 / std::sqrt(static_cast<float>(head_dim)));
    const int64_t rows = sentences * beams.beam, words = beams.sources.sum(1).max().item<int64_t>();
    const auto kv = at::from_blob(l.address("kv_ptr"), {words, 2 * width}, {stride, 1}, torch::kBFloat16);
    l.half("out_ptr", {rows, width}).copy_(plain_->attend_to_source(l.half("q_ptr", {rows, width}), kv, beams, heads));
  }

  void best_of_parts(const Launch& l, int64_t beams) {
    EXPECT_EQ(l.grid[1], l.blocks(l.number("classes"), "BLOCK"));
    EXPECT_LE(l.number("count"), std::min<int64_t>(beams + 1, l.kernel.constants.at("K")));
    logits_ = l.half("logits", {l.grid[0], l.number("stride")}).clone();
    parts_ = {l.address("part_values"), l.address("part_words"), l.address("part_sums")};
    kept_ = l.kernel.constants.at("K");
    count_ = l.number("count");
    part_count_ = l.grid[1];
  }

  void choose(const Launch& l, int64_t most) {
    EXPECT_EQ(parts_, (std::vector<void*>{l.address("part_values"), l.address("part_words"), l.address("part_sums")}));
    EXPECT_EQ(l.kernel.constants.at("K"), kept_);
    EXPECT_EQ(l.number("count"), count_);
    EXPECT_EQ(l.number("part_count"), part_count_);
    EXPECT_LE(part_count_, l.kernel.constants.at("PARTS"));
    const int64_t sentences = l.grid[0], beam = l.number("beam"), capacity = l.number("capacity"),
                  rows = sentences * beam;
    EXPECT_LE(beam, most);
    EXPECT_EQ(rows, logits_.size(0));
    const BeamTensors beams{.beam = beam,
                            .stopping = static_cast<Stopping>(l.number("stopping")),
                            .sentences = l.ints("sentences", {sentences, kSentenceColumns}),
                            .totals = l.tensor("totals", {rows}, torch::kFloat64),
                            .words = l.ints("words", {rows}),
                            .positions = l.ints("positions", {rows}),
                            .ancestors = l.ints("ancestors", {rows, capacity}),
                            .history = l.ints("history", {rows, capacity, 3}),
                            .ended = l.tensor("ended", {rows, kEndedColumns}, torch::kFloat64),
                            .penalties = l.tensor("penalties", {capacity + 1}, torch::kFloat64)};
    plain_->choose(logits_, l.number("classes"), beams);
  }

  std::unique_ptr<SearchOperations> plain_ = plain_search_operations();
  torch::Tensor logits_;
  std::vector<void*> parts_;
  int64_t kept_ = 0, count_ = 0, part_count_ = 0;
};

Emulator* emulator = nullptr;

CudaDriver emulating_driver() {
  return {.module_load_data =
              [](void** module, const void* image) {
                for (const auto& kernel : compiled_kernels())
                  if (kernel.ptx.c_str() == image) *module = const_cast<CompiledKernel*>(&kernel);
                return 0;
              },
          .module_get_function =
              [](void** function, void* module, const char*) {
                *function = module;
                return 0;
              },
          .func_set_attribute = [](void*, int, int) { return 0; },
          .launch_kernel =
              [](void* function, unsigned x, unsigned y, unsigned z, unsigned, unsigned, unsigned, unsigned, void*,
                 void** parameters, void**) {
                emulator->run(Launch(*static_cast<CompiledKernel*>(function), {x, y, z}, parameters));
                return 0;
              },
          .get_error_string = [](int, const char**) { return 1; }};
}

class SearchKernels : public testing::Test {
 protected:
  SearchKernels() { emulator = &own_; }
  ~SearchKernels() override { emulator = nullptr; }

  Emulator own_;
  DeviceKernels kernels_{emulating_driver(), torch::kCPU, 90};
};

TEST_F(SearchKernels, PassTheCheckOfACard) {
  check_search_operations(*kernel_search_operations(kernels_, torch::kCPU), torch::kCPU);
  EXPECT_GT(own_.launches, 20);
}

// In bfloat16: each bit is that of the plain operations.
TEST_F(SearchKernels, MakeAWholeSearch) {
  const c10::NoGradGuard no_gradients;
  constexpr int64_t kVocabulary = 5000;
  for (const std::string norm : {"post", "pre"}) {
    const auto model =
        test::formula_model(test::model_config("d_model: 128, d_ff: 64, num_blocks: 2, num_heads: 2, norm: " + norm),
                            kVocabulary, kVocabulary);
    model->set_compute_type(torch::kBFloat16);
    model->set_cache_form(CacheForm::kPlain);
    model->to(torch::kBFloat16);
    CounterRandom random({3, 4});
    std::vector<SearchInput> inputs(5);
    for (auto& input : inputs) {
      std::vector<int32_t> source(random.below(9));
      for (auto& id : source) id = static_cast<int32_t>(4 + random.below(kVocabulary - 4));
      input.sources = {source};
    }
    const SearchModel only{.model = model.get()};
    for (const int64_t beam : {1, 5}) {
      const SearchOptions options{{.beam_size = beam, .max_length_ratio = 1, .max_length_offset = 4}, beam};
      std::vector<std::vector<Hypothesis>> found[2];
      for (const bool by_kernels : {false, true}) {
        DeviceSearch own(only, search_weights(*model, 32),
                         by_kernels ? kernel_search_operations(kernels_, torch::kCPU) : plain_search_operations());
        DeviceModel searched({&only, 1}, own);
        ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
        search(searched, queue, 3, options);
        for (auto& one : queue.results()) found[by_kernels ? 1 : 0].push_back(std::move(one.value()));
      }
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(found[1][i].size(), found[0][i].size());
        for (size_t k = 0; k < found[0][i].size(); ++k) {
          EXPECT_EQ(found[1][i][k].ids, found[0][i][k].ids);
          EXPECT_EQ(found[1][i][k].score, found[0][i][k].score);
        }
      }
    }
  }
}

/// The plain operations, of which one is a little wrong.
class WrongOperations final : public SearchOperations {
 public:
  explicit WrongOperations(int wrong) : wrong_(wrong) {}
  torch::Tensor embed(const BeamTensors& beams, const torch::Tensor& table, const torch::Tensor& positions,
                      double scale) override {
    return plain_->embed(beams, table, positions, wrong_ == 0 ? scale * 1.05 : scale);
  }
  Normalised normalise(const torch::Tensor& x, const torch::Tensor& r, const torch::Tensor& r_bias,
                       const SearchNorm& norm) override {
    auto other = norm;
    if (wrong_ == 1) other.centred = false;
    auto found = plain_->normalise(x, r, r_bias, other);
    if (wrong_ == 2 && r.defined()) found.sum = x;
    return found;
  }
  torch::Tensor attend_to_past(const torch::Tensor& qkv, const torch::Tensor& cache, const BeamTensors& beams,
                               int64_t heads) override {
    auto other = beams;
    if (wrong_ == 3) other.ancestors = at::zeros_like(beams.ancestors);
    const auto found = plain_->attend_to_past(qkv, cache, other, heads);
    if (wrong_ == 4) cache[0][0][0] += 1;
    return found;
  }
  torch::Tensor attend_to_source(const torch::Tensor& q, const torch::Tensor& keys_and_values, const BeamTensors& beams,
                                 int64_t heads) override {
    auto other = beams;
    if (wrong_ == 5) other.sources = beams.sources.clamp_max(32);
    return plain_->attend_to_source(q, keys_and_values, other, heads);
  }
  void choose(const torch::Tensor& logits, int64_t vocabulary, const BeamTensors& beams) override {
    auto other = beams;
    if (wrong_ == 6) other.stopping = Stopping::kFirst;
    plain_->choose(wrong_ == 7 ? logits.roll(1, 0) : logits, vocabulary, other);
    if (wrong_ == 8) beams.ancestors.fill_(0);
    if (wrong_ == 9) beams.ended.select(1, kParent).add_(1);
  }

 private:
  int wrong_;
  std::unique_ptr<SearchOperations> plain_ = plain_search_operations();
};

TEST(SearchOperations, TheCheckNamesWhatIsWrong) {
  const std::vector<std::string> names = {
      "embeddings",        "a norm",  "a sum",     "self-attention",     "keys and values", "attention to the source",
      "log-probabilities", "history", "ancestors", "finished hypotheses"};
  for (int wrong = 0; wrong < std::ssize(names); ++wrong) {
    WrongOperations operations(wrong);
    EXPECT_EQ(test::message_of<Error>([&] { check_search_operations(operations, torch::kCPU); }),
              names[wrong] + " of the kernels are not those of LibTorch's operators");
  }
  EXPECT_EQ(checked_search_operations(torch::kCPU), nullptr);
}

}  // namespace
}  // namespace nmt::search_kernels_test
