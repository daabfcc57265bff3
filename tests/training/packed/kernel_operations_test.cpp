// The kernels' launches on a card of software: a driver that reads each launch's arguments as the compiled kernel
// declares them, looks at what they point at, and lets the kernel's twin compute it. So names, grids, order and types
// of arguments, addresses, strides and sizes are right where whole updates are those of the twins.
#include "training/packed/kernel_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "training/loop/packed_updates.h"
#include "training/packed/kernel_check.h"
#include "training/packed/packed_adam.h"
#include "training/packed/packed_support.h"
#include "training/packed/plain_operations.h"

namespace nmt::kernel_operations_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::set<std::string> launched;  // kernels
std::string missing;             // one that does nothing, though it is launched

constexpr auto kHalf = torch::kBFloat16;

// The arguments of a launch by their names, and its grid.
class Launch {
 public:
  Launch(const CompiledKernel& kernel, unsigned x, unsigned y, void** parameters)
      : x(x), y(y), kernel_(kernel), parameters_(parameters) {}

  int64_t integer(const char* name) const { return *static_cast<int32_t*>(place(name, CompiledKernel::Type::kInt32)); }
  double real(const char* name) const { return *static_cast<float*>(place(name, CompiledKernel::Type::kFloat32)); }
  torch::Tensor tensor(const char* name, at::IntArrayRef sizes, at::ScalarType type) const {
    return torch::from_blob(address(name), sizes, type);
  }
  torch::Tensor columns(const char* name, int64_t rows, int64_t width, int64_t stride) const {
    return torch::from_blob(address(name), {rows, width}, {stride, 1}, kHalf);
  }
  int64_t constant(const char* name) const { return kernel_.constants.at(name); }
  bool has(const char* name) const { return integer(name) == 1; }
  DropoutPlace dropout() const {
    return {
        .p = real("p"), .key = tensor("key_ptr", {1}, torch::kInt64), .site = static_cast<int32_t>(integer("site"))};
  }
  void expect_grid(int64_t wanted_x, int64_t wanted_y = 1) const {
    EXPECT_EQ(x, wanted_x) << kernel_.name;
    EXPECT_EQ(y, wanted_y) << kernel_.name;
  }
  int64_t programs(const char* name, int64_t count) const { return (count + constant(name) - 1) / constant(name); }

  int64_t x, y;

 private:
  void* place(const char* name, CompiledKernel::Type type) const {
    const auto found = std::ranges::find(kernel_.parameters, std::string(name), &CompiledKernel::Parameter::name);
    if (found == kernel_.parameters.end() || found->type != type) throw std::logic_error(kernel_.name + ": " + name);
    return parameters_[found - kernel_.parameters.begin()];
  }
  void* address(const char* name) const { return *static_cast<void**>(place(name, CompiledKernel::Type::kPointer)); }

  const CompiledKernel& kernel_;
  void** parameters_;
};

struct AttentionLaunch {
  explicit AttentionLaunch(const Launch& launch) {
    const int64_t head = launch.constant("D");
    tiles = {launch.constant("T"), launch.tensor("tiles", {launch.y, 4}, torch::kInt32)};
    width = launch.x * head;
    const auto end = [&](int64_t first) {
      return (tiles.tiles.select(1, first) + tiles.tiles.select(1, first + 1)).max().item<int64_t>();
    };
    queries = end(0), keys = end(2);
    EXPECT_LE(tiles.tiles.select(1, 1).max().item<int64_t>(), tiles.size);
    EXPECT_EQ(static_cast<float>(launch.real("scale")), static_cast<float>(1 / std::sqrt(static_cast<double>(head))));
    const int64_t q_stride = launch.integer("q_stride"), kv_stride = launch.integer("kv_stride");
    task = {.q = launch.columns("q_ptr", queries, width, q_stride),
            .k = launch.columns("k_ptr", keys, width, kv_stride),
            .v = launch.columns("v_ptr", keys, width, kv_stride),
            .query_segments = launch.tensor("query_segments", {queries}, torch::kInt32),
            .key_segments = launch.tensor("key_segments", {keys}, torch::kInt32),
            .heads = launch.x,
            .causal = launch.has("causal"),
            .dropout = launch.dropout()};
  }
  AttentionTiles tiles;
  PackedAttention task;
  int64_t queries, keys, width;
};

PackedNorm norm_of(const Launch& launch, int64_t width, bool forward) {
  const auto vector = [&](const char* name) { return launch.tensor(name, {width}, torch::kFloat32); };
  return {.weight = vector("weight_ptr"),
          .bias = forward ? vector("bias_ptr") : torch::Tensor(),
          .r_bias = forward ? vector("r_bias_ptr") : torch::Tensor(),
          .epsilon = forward ? launch.real("epsilon") : 0,
          .centred = launch.real("centred") == 1,
          .dropout = launch.dropout()};
}

void run(const std::string& name, const Launch& launch) {
  PlainOperations twins;
  const auto floats = [&](const char* of, at::IntArrayRef sizes) { return launch.tensor(of, sizes, torch::kFloat32); };
  const auto halves = [&](const char* of, at::IntArrayRef sizes) { return launch.tensor(of, sizes, kHalf); };
  const auto ints = [&](const char* of, at::IntArrayRef sizes) { return launch.tensor(of, sizes, torch::kInt32); };
  if (name.starts_with("attention_forward")) {
    const AttentionLaunch a(launch);
    twins.attention_forward(a.task, a.tiles,
                            launch.columns("out_ptr", a.queries, a.width, launch.integer("out_stride")));
  } else if (name.starts_with("attention_backward")) {
    const AttentionLaunch a(launch);
    const int64_t kv_stride = launch.integer("dkv_stride");
    twins.attention_backward(
        a.task, a.tiles, launch.columns("dout_ptr", a.queries, a.width, launch.integer("out_stride")),
        launch.columns("dq_ptr", a.queries, a.width, launch.integer("dq_stride")),
        launch.columns("dk_ptr", a.keys, a.width, kv_stride), launch.columns("dv_ptr", a.keys, a.width, kv_stride));
  } else if (name.starts_with("rotate")) {
    const int64_t rows = launch.integer("rows"), columns = launch.integer("columns"), head = launch.constant("D");
    launch.expect_grid(launch.programs("ROWS", rows), columns / head);
    const auto positions = ints("positions", {rows});
    twins.rotate(launch.columns("x_ptr", rows, columns, launch.integer("stride")),
                 floats("angles_ptr", {positions.max().item<int64_t>() + 1, head}), positions, columns,
                 launch.real("direction"));
  } else if (name.starts_with("residual_norm_forward")) {
    const int64_t rows = launch.integer("rows"), width = launch.integer("width");
    launch.expect_grid(launch.programs("ROWS", rows));
    EXPECT_EQ(launch.constant("BLOCK"), norm_block(width));
    const bool has_r = launch.has("has_r");
    const auto x = halves("x_ptr", {rows, width});
    twins.residual_norm_forward(
        norm_of(launch, width, true), x, has_r ? halves("r_ptr", {rows, width}) : torch::Tensor(),
        has_r ? halves("y_ptr", {rows, width}) : x, halves("n_ptr", {rows, width}), floats("statistics", {rows, 2}));
  } else if (name.starts_with("residual_norm_backward")) {
    const int64_t rows = launch.integer("rows"), width = launch.integer("width");
    EXPECT_EQ(launch.constant("BLOCK"), norm_block(width));
    const SecondGradient kinds[] = {SecondGradient::kNone, SecondGradient::kOfY, SecondGradient::kOfN};
    twins.residual_norm_backward(
        norm_of(launch, width, false), halves("dn_ptr", {rows, width}), halves("dy_ptr", {rows, width}),
        kinds[launch.integer("dy_place")], halves("y_ptr", {rows, width}), floats("statistics", {rows, 2}),
        halves("dx_ptr", {rows, width}), launch.has("has_r") ? halves("dr_ptr", {rows, width}) : torch::Tensor(),
        floats("parts", {launch.x, 3 * width}));
  } else if (name == "relu_dropout") {
    const int64_t rows = launch.integer("rows"), width = launch.integer("width");
    launch.expect_grid(launch.programs("ROWS", rows), launch.programs("BLOCK", width));
    twins.relu_dropout(halves("h_ptr", {rows, width}), launch.dropout());
  } else if (name == "relu_backward") {
    const int64_t rows = launch.integer("rows"), width = launch.integer("width");
    launch.expect_grid(launch.x, launch.programs("BLOCK", width));
    twins.relu_backward(halves("dh_ptr", {rows, width}),
                        launch.has("has_relu") ? halves("h_ptr", {rows, width}) : torch::Tensor(), launch.real("p"),
                        floats("parts", {launch.x, width}));
  } else if (name == "sum_parts") {
    const auto places = launch.tensor("places", {launch.x, 5}, torch::kInt64);
    const auto column = [&](int64_t i) { return places.select(1, i); };
    EXPECT_LE(column(3).max().item<int64_t>(), launch.constant("BLOCK"));
    const auto ends = column(0) + (column(1) - 1) * column(2) + column(3);
    twins.sum_parts(floats("parts", {ends.max().item<int64_t>()}), places,
                    floats("sums", {(column(3) + column(4)).max().item<int64_t>()}));
  } else if (name == "smoothed_cross_entropy") {
    twins.smoothed_cross_entropy(halves("logits", {launch.x, launch.integer("stride")}), ints("labels", {launch.x}),
                                 launch.integer("classes"), launch.real("smoothing"), floats("scale_ptr", {1}),
                                 floats("losses", {launch.x, 3}));
  } else if (name == "paired_cross_entropy") {
    twins.paired_cross_entropy(halves("logits", {2 * launch.x, launch.integer("stride")}), ints("labels", {launch.x}),
                               launch.integer("classes"), launch.real("smoothing"), floats("pair", {4}),
                               floats("scale_ptr", {1}), floats("losses", {launch.x, 3}));
  } else if (name == "embedding_forward") {
    const int64_t rows = launch.integer("rows"), width = launch.integer("width");
    launch.expect_grid(launch.programs("ROWS", rows), launch.programs("BLOCK", width));
    const auto words = ints("words", {rows}), positions = ints("positions", {rows});
    const auto table = [&](const char* of, const torch::Tensor& numbers) {
      return halves(of, {numbers.max().item<int64_t>() + 1, width});
    };
    twins.embedding_forward(words, positions, table("table", words),
                            launch.has("has_positions") ? table("position_table", positions) : torch::Tensor(),
                            launch.real("scale"), launch.dropout(), halves("out_ptr", {rows, width}));
  } else if (name == "embedding_pieces") {
    const int64_t width = launch.integer("width");
    launch.expect_grid(launch.x, launch.programs("BLOCK", width));
    WordGroups groups{.pieces = ints("pieces", {launch.x, 3})};
    const auto column = [&](int64_t i) { return groups.pieces.select(1, i); };
    EXPECT_LE(column(1).max().item<int64_t>(), launch.constant("ROWS"));
    const int64_t rows = (column(0) + column(1)).max().item<int64_t>();
    groups.order = ints("order", {rows});
    groups.parts = std::max<int64_t>(0, -column(2).min().item<int64_t>());
    twins.embedding_pieces(halves("dx_ptr", {rows, width}), groups, launch.real("scale"), launch.dropout(),
                           floats("dtable", {std::max<int64_t>(0, column(2).max().item<int64_t>()) + 1, width}),
                           floats("parts", {groups.parts, width}));
  } else if (name == "embedding_words") {
    const int64_t width = launch.integer("width");
    launch.expect_grid(launch.x, launch.programs("BLOCK", width));
    const WordGroups groups{.entries = ints("entries", {launch.x, 3})};
    const auto column = [&](int64_t i) { return groups.entries.select(1, i); };
    twins.embedding_words(groups, floats("parts", {(column(1) + column(2)).max().item<int64_t>(), width}),
                          floats("dtable", {column(0).max().item<int64_t>() + 1, width}));
  } else if (name == "squared_norm") {
    twins.squared_norm(floats("gradient", {launch.integer("count")}), floats("parts", {launch.x}));
  } else if (name == "adam_control") {
    launch.expect_grid(1);
    twins.adam_control(floats("parts", {launch.integer("count")}), launch.tensor("betas", {3}, torch::kFloat64),
                       launch.tensor("steps", {1}, torch::kInt64), floats("control", {5}));
  } else if (name == "adam") {
    const int64_t count = launch.integer("count");
    launch.expect_grid(launch.programs("BLOCK", count));
    twins.adam(floats("weights", {count}), floats("first_moment", {count}), floats("second_moment", {count}),
               floats("gradient", {count}), halves("copy", {count}), floats("control", {5}), floats("options", {4}),
               floats("rate_ptr", {1}));
  } else {
    ADD_FAILURE() << name << ": no twin";
  }
}

CudaDriver card_of_software() {
  launched.clear();
  missing.clear();
  return {.module_load_data =
              [](void** module, const void* image) {
                const auto& kernels = compiled_kernels();
                const auto found = std::ranges::find_if(kernels, [&](const auto& k) { return k.ptx.c_str() == image; });
                *module = found == kernels.end() ? nullptr : const_cast<CompiledKernel*>(&*found);
                return *module ? 0 : 1;
              },
          .module_get_function =
              [](void** function, void* module, const char* name) {
                *function = module;
                return static_cast<CompiledKernel*>(module)->entry == name ? 0 : 1;
              },
          .func_set_attribute = [](void*, int, int) { return 0; },
          .launch_kernel =
              [](void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                 unsigned shared, void*, void** parameters, void**) {
                const auto& kernel = *static_cast<CompiledKernel*>(function);
                EXPECT_EQ(z, 1);
                EXPECT_EQ(threads, 32 * kernel.warps);
                EXPECT_EQ(shared, kernel.shared);
                launched.insert(kernel.name);
                if (kernel.name != missing) run(kernel.name, Launch(kernel, x, y, parameters));
                return 0;
              },
          .get_error_string = [](int, const char**) { return 1; }};
}

std::shared_ptr<KernelOperations> operations_on_it(int capability = 90) {
  return std::make_shared<KernelOperations>(card_of_software(), torch::kCPU, capability);
}

// Three updates: loss, gradients' norm, and weights afterwards.
std::vector<torch::Tensor> trained(const Config& config, std::shared_ptr<PackedOperations> operations) {
  const auto model = test::packed_model(config.model);
  PackedUpdates packed(config, *model, std::move(operations), kHalf);
  const auto optimizer = packed.make_optimizer();
  std::vector<torch::Tensor> made;
  for (int64_t update = 1; update <= 3; ++update) {
    const auto batch = test::packed_batch({{5, 3}, {20 + update, 34}, {0, 6}, {71, 2}, {9, 66}});
    ForwardContext context(1, update, 0);
    made.push_back(packed.add_gradients(batch, 0.02, context));
    made.push_back(optimizer->clip_gradients(0.1));
    optimizer->step(0.01);
    optimizer->clear_gradients();
  }
  for (const auto& item : named_parameters(*model)) made.push_back(item.second.detach().clone());
  return made;
}

void expect_those_of_the_twins(const std::string& model, const std::string& training) {
  const auto config = test::packed_config(
      model +
          ", input_dropout_rate: 0.1, attention_dropout_rate: 0.3, residual_dropout_rate: 0.2, ffn_dropout_rate: 0.4",
      training + ", weight_decay: 0.1");
  const auto got = trained(config, operations_on_it()), expected = trained(config, std::make_shared<PlainOperations>());
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {  // numbers of a launch are float32, those of a twin float64
    const auto difference = (got[i] - expected[i]).norm().item<double>();
    EXPECT_LE(difference, 1e-4 * expected[i].norm().item<double>()) << "result " << i;
  }
}

TEST(KernelOperations, UpdatesAreThoseOfTheTwins) {
  expect_those_of_the_twins("norm: pre, positions: rotary, norm_form: rms", "smoothing: 0.1");
  EXPECT_THAT(launched, IsSupersetOf({"attention_forward_64_64", "attention_backward_64_128", "rotate_64",
                                      "relu_backward", "residual_norm_backward_256", "embedding_words", "adam"}));
  expect_those_of_the_twins("d_model: 384, num_heads: 3, positions: learned, tie_embeddings: none, output_bias: true",
                            "objective: rdrop");
  EXPECT_THAT(launched,
              IsSupersetOf({"attention_forward_128_64", "residual_norm_forward_512", "paired_cross_entropy"}));
}

TEST(KernelOperations, AnOlderCardHasTheSmallerTile) {
  EXPECT_EQ(operations_on_it(80)->largest_tile(64), 64);
  EXPECT_EQ(operations_on_it(90)->largest_tile(64), 128);
  EXPECT_EQ(operations_on_it(90)->largest_tile(96), 0);
}

TEST(KernelCheck, EachKernelIsBesideItsTwin) {
  const auto config = test::packed_config("positions: rotary").model;
  for (const auto& check : check_kernels(*operations_on_it(), config, torch::kCPU, kHalf))
    EXPECT_TRUE(check.is_right()) << check.name << ": " << check.error;
  EXPECT_THAT(launched, IsSupersetOf({"attention_backward_64_64", "attention_backward_64_128", "squared_norm"}));
  PlainOperations twins;
  for (const auto& check : check_kernels(twins, config, torch::kCPU, torch::kFloat32)) EXPECT_EQ(check.error, 0);
}

TEST(KernelCheck, AKernelThatDoesNothingIsFound) {
  const auto config = test::packed_config("positions: rotary").model;
  auto operations = operations_on_it();
  check_kernels(*operations, config, torch::kCPU, kHalf);
  const auto all = launched;
  ASSERT_GE(all.size(), 18);
  for (const auto& name : all) {
    missing = name;
    const auto support = checked_operations(operations, config, torch::kCPU, kHalf);
    EXPECT_FALSE(support.operations) << name;
    EXPECT_TRUE(support.is_wrong);
    EXPECT_THAT(support.reason, HasSubstr(" is wrong on this card: an error of ")) << name;
  }
  missing.clear();
  EXPECT_EQ(checked_operations(operations, config, torch::kCPU, kHalf).operations, operations);
}

#ifdef NMT_WITH_CUDA
TEST(KernelCheck, AllAreRightOnACard) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no card";
  const auto config = test::packed_config("positions: rotary");
  const auto support = packed_update_supports(config, torch::Device(torch::kCUDA, 0), kHalf, 1);
  EXPECT_TRUE(support.operations) << support.reason;
}
#endif

}  // namespace
}  // namespace nmt::kernel_operations_test
