// What the attention kernels of GPUs ask of their inputs, and that packed_attention keeps it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/attention/attention.h"
#include "nn/device/device.h"
#include "nn/ops/packed_rows.h"
#include "simulated_device/attention.h"
#include "simulated_device/simulated_device.h"
#include "tensor_support.h"

namespace nmt::attention_inputs_test {
namespace {

using simulated::efficient_attention_error;
using simulated::flash_attention_error;
using simulated::PackedInputs;
using test::expect_close;
using test::wave;
using ::testing::HasSubstr;
using ::testing::Optional;

PackedInputs flash_inputs() {
  const auto x = [](double start) { return wave({7, 2, 8}, 1, start).to(torch::kBFloat16); };
  const auto ends = torch::tensor({0, 3, 7}, torch::kInt32);
  return {.q = x(1), .k = x(2), .v = x(3), .ends_q = ends, .ends_k = ends, .longest_q = 4, .longest_k = 4};
}

PackedInputs efficient_inputs() {
  auto inputs = flash_inputs();
  for (auto* x : {&inputs.q, &inputs.k, &inputs.v}) *x = x->to(torch::kFloat32).unsqueeze(0);
  return inputs;
}

struct Mistake {
  std::function<void(PackedInputs&)> make;
  const char* message;
};

// Each kind of wrong input, at ten places and sizes.
TEST(AttentionInputs, EachMistakeIsFound) {
  const std::vector<Mistake> mistakes = {
      {[](auto& x) { x.ends_q = x.ends_q->to(torch::kInt64); }, "cu_seqlens of q: must be int32, is Long"},
      {[](auto& x) { x.ends_k = x.ends_k->to(torch::kInt64); }, "cu_seqlens of k: must be int32"},
      {[](auto& x) {
         x.ends_k = torch::stack({*x.ends_k, *x.ends_k}, 1).select(1, 0);
       },
       "must be contiguous"},
      {[](auto& x) { x.ends_k = x.ends_k->narrow(0, 0, 2); }, "the same sentences"},
      {[](auto& x) { x.ends_q.reset(); }, "cu_seqlens of q: is missing"},
      {[](auto& x) { x.k = x.k.to(torch::kHalf); }, "k: must have the type of q"},
      {[](auto& x) { x.v = x.v.transpose(-1, -2).contiguous().transpose(-1, -2); }, "must be contiguous"},
      {[](auto& x) {
         x.q = torch::cat({x.q, x.q}, -1).narrow(-1, 1, 8);
       },
       "multiples of 16 bytes"},
      {[](auto& x) { x.v = x.v.narrow(-3, 0, 6); }, "the tokens of k"},
      {[](auto& x) { x.k = x.k.narrow(-2, 0, 1), x.v = x.v.narrow(-2, 0, 1); }, "the heads of q"},
      {[](auto& x) { x.longest_q = 0; }, "the longest sentence must have a token"},
      {[](auto& x) { x.longest_k = 8; }, "the longest sentence has more tokens than there are"},
      {[](auto& x) { x.dropout = 1; }, "dropout"},
  };
  EXPECT_EQ(flash_attention_error(flash_inputs()), std::nullopt);
  EXPECT_EQ(efficient_attention_error(efficient_inputs()), std::nullopt);
  for (const auto& [make, message] : mistakes) {
    auto flash = flash_inputs(), efficient = efficient_inputs();
    make(flash), make(efficient);
    EXPECT_THAT(flash_attention_error(flash), Optional(HasSubstr(message)));
    EXPECT_THAT(efficient_attention_error(efficient), Optional(HasSubstr(message)));
  }
}

TEST(AttentionInputs, MistakesOfOneKernel) {
  auto inputs = flash_inputs();
  for (auto* x : {&inputs.q, &inputs.k, &inputs.v}) *x = x->to(torch::kFloat32);
  EXPECT_THAT(flash_attention_error(inputs), Optional(HasSubstr("must be float16 or bfloat16, is Float")));
  inputs = flash_inputs();
  for (auto* x : {&inputs.q, &inputs.k, &inputs.v}) *x = torch::cat({*x, x->narrow(-1, 0, 4)}, -1).contiguous();
  EXPECT_TRUE(flash_attention_error(inputs));
  inputs = efficient_inputs();
  for (auto* x : {&inputs.q, &inputs.k, &inputs.v}) *x = torch::cat({*x, *x}, 0);
  EXPECT_THAT(efficient_attention_error(inputs), Optional(HasSubstr("the batch must be 1")));
}

// The way of training: types, dropout, causal, a head_dim that the kernels have, lengths of all kinds.
TEST(AttentionInputs, PackedAttentionKeepsThemAndIsThePlainOne) {
  const auto device = simulated::device();
  const auto can = capabilities_of(device);
  ASSERT_TRUE(can.flash_attention && can.efficient_attention);
  for (const auto order : {simulated::Order::kAtOnce, simulated::Order::kLate}) {
    simulated::set_order(order);
    for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat16})
      for (const bool causal : {false, true}) {
        const auto lengths = torch::tensor({3, 5, 1}, torch::kInt64);
        const AttentionOptions options{
            .heads = 2, .causal = causal, .target_lengths = lengths, .source_lengths = lengths};
        const auto input = [&](double start) { return wave({3, 5, 16}, 1, start).to(type).to(torch::kFloat32); };
        const auto run = [&](torch::Device where, bool packed) {
          std::vector<torch::Tensor> leaves, cast;
          for (const double start : {1.0, 2.0, 3.0}) {
            leaves.push_back(input(start).to(where).requires_grad_());
            cast.push_back(packed ? leaves.back().to(type) : leaves.back());
          }
          ForwardContext pass;
          if (packed) {
            EXPECT_TRUE(has_packed_attention(cast[0], options, 0));
          }
          const auto context = packed ? attention(cast[0], cast[1], cast[2], options, pass)
                                      : plain_attention(cast[0], cast[1], cast[2], options, pass);
          (context.to(torch::kFloat32) * wave({3, 5, 16}, 1, 9).to(where)).sum().backward();
          std::vector<torch::Tensor> results{context.detach().to(torch::kFloat32).cpu()};
          for (const auto& leaf : leaves) results.push_back(leaf.grad().cpu());
          return results;
        };
        const auto expected = run(torch::kCPU, false), found = run(device, true);
        for (size_t i = 0; i < expected.size(); ++i)
          expect_close(found[i], expected[i], type == torch::kFloat32 ? 1e-5 : 0.03,
                       std::string(c10::toString(type)) + " " + std::to_string(i));
      }
  }
  simulated::finish();
  simulated::set_order(simulated::Order::kAtOnce);
}

// A card before Ampere has no FlashAttention-2.
TEST(AttentionInputs, SixteenBitsNeedFlashAttention) {
  simulated::set_types(/*bfloat16=*/false, /*float16=*/true);
  const auto q = torch::zeros({2, 4, 16}, torch::TensorOptions(torch::kFloat16).device(simulated::device()));
  EXPECT_FALSE(has_packed_attention(q, {.heads = 2}, 0));
  EXPECT_TRUE(has_packed_attention(q.to(torch::kFloat32), {.heads = 2}, 0));
  simulated::set_types(true, true);
  EXPECT_TRUE(has_packed_attention(q, {.heads = 2}, 0.1));
  EXPECT_FALSE(has_packed_attention(torch::zeros({2, 4, 20}, simulated::device()), {.heads = 2}, 0)) << "head_dim 10";
}

}  // namespace
}  // namespace nmt::attention_inputs_test
