#include "nn/ops/packed_matrix.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

#include "nn/device/cpu_kernels.h"
#include "nn/inference/operations.h"

namespace nmt {

namespace {

/// A tensor at one moment: another address or version is another value. One made in inference mode has no version.
struct Moment {
  const void* data = nullptr;
  uint32_t version = 0;

  explicit Moment(const torch::Tensor& x) {
    if (!x.defined()) return;
    data = x.const_data_ptr();
    version = x._version();
  }
  bool operator==(const Moment&) const = default;
};

bool has_version(const AffineMap& map) {
  return !map.weight.is_inference() && !(map.bias.defined() && map.bias.is_inference());
}

torch::Tensor joined(const std::vector<torch::Tensor>& parts) {
  return (parts.size() == 1 ? parts.front() : at::cat(parts)).detach().contiguous();
}

/// The scales of int8 weights, one after the other.
torch::Tensor joined_scales(const std::vector<torch::Tensor>& weights, const Packing& packing) {
  std::vector<torch::Tensor> parts;
  for (const auto& weight : weights) {
    TORCH_CHECK(packing.scales && packing.scales->contains(weight.const_data_ptr()), "int8 weights without scales");
    parts.push_back(packing.scales->at(weight.const_data_ptr()));
  }
  return joined(parts);
}

}  // namespace

class PackedMatrix::Packed {
 public:
  Packed(std::initializer_list<AffineMap> maps, const Packing& packing) {
    std::vector<torch::Tensor> weights, biases;
    for (const auto& map : maps) {
      versioned_ = versioned_ && has_version(map);
      if (versioned_) moments_.insert(moments_.end(), {Moment(map.weight), Moment(map.bias)});
      weights.push_back(map.weight);
      if (map.bias.defined()) biases.push_back(map.bias);
    }
    TORCH_CHECK(biases.empty() || biases.size() == weights.size(), "either all maps have a bias or none");
    if (!biases.empty()) {
      bias_ = joined(biases);
      map_.bias = bias_.const_data_ptr<float>();
    }
    const auto type = weights.front().scalar_type();
    for (const auto& weight : weights) TORCH_CHECK(weight.scalar_type() == type, "weights of two types side by side");
    TORCH_CHECK(type == torch::kFloat32 || type == stored_type(packing.format), "these weights cannot be packed so");
    const auto matrix = joined(weights);  // [out, in]
    const auto scales = type == torch::kInt8 ? joined_scales(weights, packing) : torch::Tensor();
    allocate(matrix.size(0), matrix.size(1), packing.format);
    const auto pack = [&](int64_t begin, int64_t end) {
      if (type == torch::kFloat32)
        kernels::packed_kernels().pack(matrix.const_data_ptr<float>(), map_.weight, {begin, end});
      else
        kernels::pack_quantized(matrix.const_data_ptr(), scales.defined() ? scales.const_data_ptr<float>() : nullptr,
                                map_.weight, {begin, end});
    };
    at::parallel_for(0, kernels::panel_count(map_.weight.out), 1, pack);
  }

  explicit Packed(inference::Map map) : versioned_(false), map_(std::move(map)) {}

  bool is_of(std::initializer_list<AffineMap> maps, kernels::WeightFormat format) const {
    if (!versioned_ || format != map_.weight.format || moments_.size() != 2 * maps.size()) return false;
    auto moment = moments_.begin();
    for (const auto& map : maps) {
      if (!has_version(map) || *moment++ != Moment(map.weight) || *moment++ != Moment(map.bias)) return false;
    }
    return true;
  }

  const kernels::PackedWeight& weight() const { return map_.weight; }
  const float* bias() const { return map_.bias; }
  const inference::Map& map() const { return map_; }  ///< without owner

 private:
  static at::ScalarType stored_type(kernels::WeightFormat format) {
    if (format == kernels::WeightFormat::kFloat32) return torch::kFloat32;
    return format == kernels::WeightFormat::kInt8 ? torch::kInt8 : torch::kBFloat16;
  }

  void allocate(int64_t out, int64_t in, kernels::WeightFormat format) {
    const int64_t panels = kernels::panel_count(out);
    TORCH_CHECK(format != kernels::WeightFormat::kInt8 || in <= kernels::kMaxInt8In, "too many columns for int8: ", in);
    panels_ = torch::empty({panels * kernels::words_in_row(format, in) * kernels::kPanel}, torch::kInt32);
    inference::use_huge_pages(panels_.const_data_ptr(), panels_.nbytes());
    if (format == kernels::WeightFormat::kInt8) {
      scales_ = torch::empty({panels * kernels::kPanel}, torch::kFloat32);
      sums_ = torch::empty({panels * kernels::kPanel}, torch::kInt32);
    }
    map_.weight = {.format = format,
                   .out = out,
                   .in = in,
                   .panels = static_cast<uint32_t*>(panels_.mutable_data_ptr()),
                   .scales = scales_.defined() ? scales_.mutable_data_ptr<float>() : nullptr,
                   .sums = sums_.defined() ? sums_.mutable_data_ptr<int32_t>() : nullptr};
  }

  std::vector<Moment> moments_;
  bool versioned_ = true;
  inference::Map map_;
  torch::Tensor panels_, scales_, sums_, bias_;
};

// Usually one atomic load and a few comparisons: two workers do not wait for each other.
const PackedMatrix::Packed& PackedMatrix::packed(std::initializer_list<AffineMap> maps) {
  const Packed* current = current_.load(std::memory_order_acquire);
  if (current && current->is_of(maps, packing_.format)) return *current;
  const std::lock_guard lock(mutex_);
  if (!owned_ || !owned_->is_of(maps, packing_.format)) {
    current_ = nullptr;
    owned_.reset();  // first: both together could be too much
    owned_ = std::make_shared<const Packed>(maps, packing_);
    if (packing_.origin) packing_.origin->release_pages();
    current_.store(owned_.get(), std::memory_order_release);
  }
  return *owned_;
}

torch::Tensor PackedMatrix::multiply(const torch::Tensor& x, std::initializer_list<AffineMap> maps,
                                     const Epilogue& epilogue) {
  return multiply(x, packed(maps), epilogue);
}

torch::Tensor PackedMatrix::look_up(const AffineMap& map, const torch::Tensor& ids_in) {
  const auto& weight = packed({map}).weight();
  const auto ids = ids_in.contiguous();
  auto sizes = ids.sizes().vec();
  sizes.push_back(weight.in);
  auto rows = torch::empty(sizes, torch::kFloat32);
  const auto* id = ids.const_data_ptr<int64_t>();
  auto* to = rows.mutable_data_ptr<float>();
  for (int64_t i = 0; i < ids.numel(); ++i) {
    TORCH_CHECK_INDEX(id[i] >= 0 && id[i] < weight.out, "id ", id[i], " of a table of ", weight.out);
    kernels::unpack_row(weight, id[i], to + i * weight.in);
  }
  return rows;
}

std::shared_ptr<const PackedMatrix::Packed> PackedMatrix::gather(const AffineMap& map,
                                                                 std::span<const int32_t> outputs) {
  return std::make_shared<const Packed>(
      inference::gather(packed({map}).map(), outputs, may_share() ? &step_threads() : nullptr));
}

inference::Map PackedMatrix::map(std::initializer_list<AffineMap> maps) {
  packed(maps);
  const std::lock_guard lock(mutex_);
  auto map = owned_->map();
  map.owner = owned_;
  return map;
}

torch::Tensor PackedMatrix::multiply(const torch::Tensor& x_in, const Packed& packed, const Epilogue& epilogue) {
  const bool fits = epilogue.activation == Activation::kNone || epilogue.activation == Activation::kRelu;
  if (!fits) return epilogue.apply(multiply(x_in, packed));

  const auto& kernels = kernels::packed_kernels();
  const auto& weight = packed.weight();
  const auto x = x_in.contiguous();
  const auto residual = epilogue.residual.defined() ? epilogue.residual.contiguous() : torch::Tensor();
  auto sizes = x.sizes().vec();
  sizes.back() = weight.out;
  auto y = torch::empty(sizes, x.options());
  const int64_t rows = x.numel() / weight.in, panels = kernels::panel_count(weight.out);
  const bool as_it_is = weight.format == kernels::WeightFormat::kFloat32;

  static thread_local std::vector<uint32_t> words;  // of x, kept from call to call
  static thread_local std::vector<kernels::RowScale> scales;
  uint32_t* x_words = nullptr;
  kernels::RowScale* row_scales = nullptr;
  if (!as_it_is) {
    const auto needed = static_cast<size_t>(rows * kernels.words_of_x(weight.format, weight.in));
    if (words.size() < needed) words.resize(needed);
    if (scales.size() < static_cast<size_t>(rows)) scales.resize(rows);
    x_words = words.data();
    row_scales = scales.data();
  }
  const float* x_data = x.const_data_ptr<float>();
  const auto prepare = [&](kernels::Range range) {
    if (!as_it_is) kernels.prepare(weight.format, x_data, weight.in, range, x_words, row_scales);
  };
  const kernels::PackedProduct product{.weight = weight,
                                       .x = as_it_is ? static_cast<const void*>(x_data) : x_words,
                                       .row_scales = row_scales,
                                       .bias = packed.bias(),
                                       .relu = epilogue.activation == Activation::kRelu,
                                       .residual = residual.defined() ? residual.const_data_ptr<float>() : nullptr,
                                       .y = y.mutable_data_ptr<float>()};

  // Threads share the wider side; either way each element is the same sum.
  constexpr int64_t kWorthAThread = 1 << 17;  // bytes of weights, for one or two rows
  if (rows < 64) {
    prepare({0, rows});
    const int64_t panel_bytes = kernels::words_in_row(weight.format, weight.in) * kernels::kPanel * 4;
    const int64_t grain = std::max<int64_t>(1, kWorthAThread / (panel_bytes * std::max<int64_t>(1, (rows + 1) / 2)));
    share_pieces(panels, grain, [&](int64_t begin, int64_t end) noexcept {
      kernels.multiply(product, {0, rows}, {begin, end});
    });
  } else {
    at::parallel_for(0, rows, 24, [&](int64_t begin, int64_t end) {
      prepare({begin, end});
      kernels.multiply(product, {begin, end}, {0, panels});
    });
  }
  return y;
}

}  // namespace nmt
