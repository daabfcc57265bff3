// The two attention kernels of GPUs, in plain operations of the CPU.
#include "simulated_device/attention.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <cmath>

#include "simulated_device/streams.h"
#include "simulated_device/tensors.h"

namespace nmt::simulated {
namespace {

// FlashAttention does not ask for this, reads 16 bytes at a time and ends with a misaligned address; memory-efficient
// attention has no kernel of float32 for less (kMinimumAlignment of gemm_kernel_utils.h).
constexpr int64_t kBytesOfAnAccess = 16;

bool is_aligned(const at::Tensor& x) {
  const int64_t size = static_cast<int64_t>(x.itemsize());
  if (x.storage_offset() * size % kBytesOfAnAccess != 0) return false;
  for (int64_t i = 0; i + 1 < x.dim(); ++i)
    if (x.size(i) > 1 && x.stride(i) * size % kBytesOfAnAccess != 0) return false;
  return true;
}

using Error = std::optional<std::string>;

Error ends_error(const std::optional<at::Tensor>& ends, const at::Tensor& q, const char* name) {
  const std::string of = std::string(name) + ": ";
  if (!ends || !ends->defined()) return of + "is missing";
  if (ends->scalar_type() != at::kInt) return of + "must be int32, is " + c10::toString(ends->scalar_type());
  if (ends->device() != q.device()) return of + "must be on the device of q";
  if (ends->dim() != 1 || !ends->is_contiguous()) return of + "must be contiguous, of one dimension";
  if (ends->size(0) < 2) return of + "needs a sentence";
  return std::nullopt;
}

/// What both kernels ask (README.md says where each rule comes from), and what ours always have: as many heads and
/// features in keys and values as in queries.
Error common_error(const PackedInputs& inputs, int64_t dim) {
  const auto& [q, k, v, ends_q, ends_k, longest_q, longest_k, dropout] = inputs;
  for (const auto& [name, x] : {std::pair("q", q), {"k", k}, {"v", v}}) {
    const std::string of = std::string(name) + ": ";
    if (x.dim() != dim) return of + "must have " + std::to_string(dim) + " dimensions";
    if (x.device() != q.device()) return of + "must be on the device of q";
    if (x.scalar_type() != q.scalar_type()) return of + "must have the type of q";
    if (x.stride(-1) != 1) return of + "the features of a head must be contiguous";
    if (!is_aligned(x)) return of + "rows must begin at multiples of 16 bytes";
    if (x.size(-1) != q.size(-1)) return of + "must have the head_dim of q";
    if (x.size(-2) != q.size(-2)) return of + "must have the heads of q";
  }
  if (k.size(-3) != v.size(-3)) return "v: must have the tokens of k";
  if (auto error = ends_error(ends_q, q, "cu_seqlens of q")) return error;
  if (auto error = ends_error(ends_k, q, "cu_seqlens of k")) return error;
  if (ends_q->size(0) != ends_k->size(0)) return "cu_seqlens: q and k must have the same sentences";
  if (longest_q < 1 || longest_k < 1) return "the longest sentence must have a token";
  if (longest_q > q.size(-3) || longest_k > k.size(-3)) return "the longest sentence has more tokens than there are";
  if (dropout < 0 || dropout >= 1) return "dropout: must be in [0, 1)";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> flash_attention_error(const PackedInputs& inputs) {
  const auto type = inputs.q.scalar_type();
  if (type != at::kHalf && type != at::kBFloat16)
    return std::string("q: must be float16 or bfloat16, is ") + c10::toString(type);
  if (auto error = common_error(inputs, 3)) return error;
  const int64_t head_dim = inputs.q.size(-1);
  if (head_dim > 256 || head_dim % 8 != 0) return "head_dim: must be a multiple of 8, at most 256";
  return std::nullopt;
}

std::optional<std::string> efficient_attention_error(const PackedInputs& inputs) {
  if (auto error = common_error(inputs, 4)) return error;
  if (inputs.q.size(0) != 1) return "q: with cu_seqlens the batch must be 1";
  return std::nullopt;
}

namespace {

struct Options {
  double dropout = 0, scale = 1;
  bool causal = false;
  uint64_t seed_offset = 0;  // of the numbers that dropout draws
};

/// One sentence and all heads: [heads, time, head_dim], float32.
struct Sentence {
  at::Tensor q, k, v;
  at::Tensor weights = {}, dropped = {};  // [heads, target, source]: before and after dropout
  at::Tensor kept = {};                   // what dropout multiplies by; undefined: nothing
  at::Tensor log_sums = {};               // [heads, target]
};

Sentence attend(at::Tensor q, at::Tensor k, at::Tensor v, const Options& options, const at::Generator& numbers) {
  Sentence of{.q = std::move(q), .k = std::move(k), .v = std::move(v)};
  auto scores = of.q.matmul(of.k.transpose(1, 2)) * options.scale;
  if (options.causal) {
    const auto seen = at::ones({scores.size(1), scores.size(2)}, at::kBool).tril();
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
  }
  of.log_sums = scores.logsumexp(-1);
  of.weights = of.dropped = scores.softmax(-1);
  if (options.dropout > 0) {
    of.kept = at::empty_like(of.weights).bernoulli_(1 - options.dropout, numbers).div_(1 - options.dropout);
    of.dropped = of.weights * of.kept;
  }
  return of;
}

/// All of it by sentences; q, k, v [tokens, heads, head_dim] and cu_seqlens of the CPU. body(sentence, its rows of q,
/// of k).
template <typename Body>
void by_sentences(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& ends_q,
                  const at::Tensor& ends_k, const Options& options, uint64_t seed, const Body& body) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const at::AutoDispatchBelowADInplaceOrView below;
  const auto numbers = at::detail::createCPUGenerator(seed);
  const auto* of_q = ends_q.const_data_ptr<int32_t>();
  const auto* of_k = ends_k.const_data_ptr<int32_t>();
  const auto rows = [](const at::Tensor& x, int64_t from, int64_t to) {
    return x.narrow(0, from, to - from).to(at::kFloat).transpose(0, 1).contiguous();
  };
  for (int64_t b = 0; b + 1 < ends_q.size(0); ++b) {
    if (of_q[b] == of_q[b + 1]) continue;
    body(attend(rows(q, of_q[b], of_q[b + 1]), rows(k, of_k[b], of_k[b + 1]), rows(v, of_k[b], of_k[b + 1]), options,
                numbers),
         std::pair<int64_t, int64_t>{of_q[b], of_q[b + 1]}, std::pair<int64_t, int64_t>{of_k[b], of_k[b + 1]});
  }
}

std::vector<BlockPointer> blocks_of(std::initializer_list<at::Tensor> tensors) {
  std::vector<BlockPointer> blocks;
  for (const auto& x : tensors) blocks.push_back(block_of(x.storage()));
  return blocks;
}

void put(const at::Tensor& to, std::pair<int64_t, int64_t> rows, const at::Tensor& values) {
  to.narrow(0, rows.first, rows.second - rows.first).copy_(values.transpose(0, 1));
}

/// context [tokens, heads, head_dim] and log sums [heads, tokens].
std::pair<at::Tensor, at::Tensor> forward(const std::string& name, const at::Tensor& q, const at::Tensor& k,
                                          const at::Tensor& v, const at::Tensor& ends_q, const at::Tensor& ends_k,
                                          const Options& options, const at::Tensor& seed) {
  const auto context = empty({q.size(0), q.size(1), v.size(2)}, q.scalar_type());
  const auto log_sums = empty({q.size(1), q.size(0)}, at::kFloat);
  const uint64_t drawn = next_generator().current_seed();
  launch({name, blocks_of({q, k, v, ends_q, ends_k}), blocks_of({context, log_sums, seed}),
          [=, q = alias_of(q), k = alias_of(k), v = alias_of(v), ends_q = alias_of(ends_q), ends_k = alias_of(ends_k),
           context = alias_of(context), log_sums = alias_of(log_sums), seed = alias_of(seed)] {
            seed.fill_(static_cast<int64_t>(drawn));
            by_sentences(q, k, v, ends_q, ends_k, options, drawn, [&](const Sentence& of, auto rows, auto) {
              put(context, rows, of.dropped.matmul(of.v));
              log_sums.narrow(1, rows.first, rows.second - rows.first).copy_(of.log_sums);
            });
          }});
  return {context, log_sums};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const std::string& name, const at::Tensor& gradient,
                                                        const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                        const at::Tensor& ends_q, const at::Tensor& ends_k,
                                                        const Options& options, const at::Tensor& seed) {
  const auto of_q = empty(q.sizes(), q.scalar_type()), of_k = empty(k.sizes(), k.scalar_type()),
             of_v = empty(v.sizes(), v.scalar_type());
  launch({name, blocks_of({gradient, q, k, v, ends_q, ends_k, seed}), blocks_of({of_q, of_k, of_v}),
          [=, gradient = alias_of(gradient), q = alias_of(q), k = alias_of(k), v = alias_of(v),
           ends_q = alias_of(ends_q), ends_k = alias_of(ends_k), seed = alias_of(seed), of_q = alias_of(of_q),
           of_k = alias_of(of_k), of_v = alias_of(of_v)] {
            for (const auto& x : {of_q, of_k, of_v}) x.zero_();
            const auto drawn = static_cast<uint64_t>(*seed.const_data_ptr<int64_t>()) + options.seed_offset;
            by_sentences(q, k, v, ends_q, ends_k, options, drawn, [&](const Sentence& of, auto targets, auto sources) {
              const auto of_context =
                  gradient.narrow(0, targets.first, targets.second - targets.first).to(at::kFloat).transpose(0, 1);
              put(of_v, sources, of.dropped.transpose(1, 2).matmul(of_context));
              auto of_weights = of_context.matmul(of.v.transpose(1, 2));
              if (of.kept.defined()) of_weights = of_weights * of.kept;
              const auto of_scores =
                  of.weights * (of_weights - (of_weights * of.weights).sum(-1, /*keepdim=*/true)) * options.scale;
              put(of_q, targets, of_scores.matmul(of.k));
              put(of_k, sources, of_scores.transpose(1, 2).matmul(of.q));
            });
          }});
  return {of_q, of_k, of_v};
}

double scale_of(const at::Tensor& q, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
}

void require(const char* kernel, const std::optional<std::string>& error) {
  TORCH_CHECK(!error, "simulated device: ", kernel, ": ", error.value_or(""));
}

// Boxed: the arguments of these operations grow from release to release; those that are used stand in the same places.
template <void (*kernel)(std::vector<c10::IValue>& arguments, torch::jit::Stack& results)>
void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto count = op.schema().arguments().size();
  std::vector<c10::IValue> arguments(stack->end() - static_cast<ptrdiff_t>(count), stack->end());
  torch::jit::drop(*stack, count);
  kernel(arguments, *stack);
}

std::optional<at::Tensor> tensor_of(const c10::IValue& value) {
  return value.isTensor() ? std::optional(value.toTensor()) : std::nullopt;
}

int64_t integer_of(const c10::IValue& value, int64_t otherwise = 0) {
  return value.isNone() ? otherwise : value.toInt();
}

// query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, return_debug_mask, scale
void flash_forward(std::vector<c10::IValue>& given, torch::jit::Stack& results) {
  const PackedInputs inputs{.q = given[0].toTensor(),
                            .k = given[1].toTensor(),
                            .v = given[2].toTensor(),
                            .ends_q = tensor_of(given[3]),
                            .ends_k = tensor_of(given[4]),
                            .longest_q = integer_of(given[5]),
                            .longest_k = integer_of(given[6]),
                            .dropout = given[7].toDouble()};
  require("_flash_attention_forward", flash_attention_error(inputs));
  const Options options{.dropout = inputs.dropout,
                        .scale = scale_of(inputs.q, given[10].toOptional<double>()),
                        .causal = given[8].toBool()};
  const auto seed = empty({2}, at::kLong);
  const auto [context, log_sums] = forward("aten::_flash_attention_forward", inputs.q, inputs.k, inputs.v,
                                           *inputs.ends_q, *inputs.ends_k, options, seed);
  const auto nothing = empty({0}, at::kLong);
  for (const auto& x : {context, log_sums, seed, nothing, empty({0}, inputs.q.scalar_type())}) results.emplace_back(x);
}

// grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, rng_state,
// unused, scale
void flash_backward(std::vector<c10::IValue>& given, torch::jit::Stack& results) {
  const auto q = given[1].toTensor();
  const Options options{.dropout = given[10].toDouble(),
                        .scale = scale_of(q, given[14].toOptional<double>()),
                        .causal = given[11].toBool()};
  const auto [of_q, of_k, of_v] =
      backward("aten::_flash_attention_backward", given[0].toTensor(), q, given[2].toTensor(), given[3].toTensor(),
               given[6].toTensor(), given[7].toTensor(), options, given[12].toTensor());
  for (const auto& x : {of_q, of_k, of_v}) results.emplace_back(x);
}

at::Tensor first(const at::Tensor& x) { return x.squeeze(0); }

// query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, custom_mask_type,
// compute_log_sumexp, scale
void efficient_forward(std::vector<c10::IValue>& given, torch::jit::Stack& results) {
  const PackedInputs inputs{.q = given[0].toTensor(),
                            .k = given[1].toTensor(),
                            .v = given[2].toTensor(),
                            .ends_q = tensor_of(given[4]),
                            .ends_k = tensor_of(given[5]),
                            .longest_q = integer_of(given[6]),
                            .longest_k = integer_of(given[7]),
                            .dropout = given[8].toDouble()};
  require("_efficient_attention_forward", efficient_attention_error(inputs));
  TORCH_CHECK(!tensor_of(given[3]), "simulated device: _efficient_attention_forward: no bias here");
  const Options options{.dropout = inputs.dropout,
                        .scale = scale_of(inputs.q, given[11].toOptional<double>()),
                        .causal = given[9].toInt() != 0};
  const auto seed = empty({1}, at::kLong);
  const auto [context, log_sums] = forward("aten::_efficient_attention_forward", first(inputs.q), first(inputs.k),
                                           first(inputs.v), *inputs.ends_q, *inputs.ends_k, options, seed);
  for (const auto& x : {context.unsqueeze(0), given[10].toBool() ? log_sums : empty({0}, at::kFloat), seed,
                        at::zeros({1}, seed.options())})
    results.emplace_back(x);
  results.emplace_back(inputs.longest_q);
  results.emplace_back(inputs.longest_k);
}

// grad_out_, query, key, value, bias, out, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, logsumexp,
// dropout_p, philox_seed, philox_offset, custom_mask_type, bias_requires_grad, scale
void efficient_backward(std::vector<c10::IValue>& given, torch::jit::Stack& results) {
  const auto q = given[1].toTensor();
  TORCH_CHECK(given[10].toTensor().numel() > 0, "simulated device: _efficient_attention_backward: needs logsumexp");
  // The same as in LibTorch: the forward pass takes the longest source for 0 where it finds the place of a mask among
  // the numbers drawn, the backward pass takes it for what it is (attention.cu). So they drop other weights.
  const Options options{.dropout = given[11].toDouble(),
                        .scale = scale_of(q, given[16].toOptional<double>()),
                        .causal = given[14].toInt() != 0,
                        .seed_offset = static_cast<uint64_t>(given[9].toInt())};
  const auto [of_q, of_k, of_v] =
      backward("aten::_efficient_attention_backward", first(given[0].toTensor()), first(q), first(given[2].toTensor()),
               first(given[3].toTensor()), given[6].toTensor(), given[7].toTensor(), options, given[12].toTensor());
  for (const auto& x : {of_q, of_k, of_v}) results.emplace_back(x.unsqueeze(0));
  results.emplace_back(at::Tensor());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_flash_attention_forward", torch::CppFunction::makeFromBoxedFunction<&boxed<&flash_forward>>());
  library.impl("_flash_attention_backward", torch::CppFunction::makeFromBoxedFunction<&boxed<&flash_backward>>());
  library.impl("_efficient_attention_forward", torch::CppFunction::makeFromBoxedFunction<&boxed<&efficient_forward>>());
  library.impl("_efficient_attention_backward",
               torch::CppFunction::makeFromBoxedFunction<&boxed<&efficient_backward>>());
}

}  // namespace
}  // namespace nmt::simulated
