#include "nn/positions/positions.h"

namespace nmt {

// One function a kind, in positions/<kind>.cpp (docs/extending.md).
std::shared_ptr<Positions> make_sinusoidal(const PositionOptions& options);
std::shared_ptr<Positions> make_learned(const PositionOptions& options);
std::shared_ptr<Positions> make_hierarchical(const PositionOptions& options);
std::shared_ptr<Positions> make_product(const PositionOptions& options);
std::shared_ptr<Positions> make_recurrent(const PositionOptions& options);
std::shared_ptr<Positions> make_convolution(const PositionOptions& options);
std::shared_ptr<Positions> make_complex(const PositionOptions& options);
std::shared_ptr<HeadScores> make_shaw(const PositionOptions& options);
std::shared_ptr<HeadScores> make_t5(const PositionOptions& options);
std::shared_ptr<HeadScores> make_transformer_xl(const PositionOptions& options);
std::shared_ptr<HeadScores> make_deberta(const PositionOptions& options);
std::shared_ptr<HeadScores> make_rotary(const PositionOptions& options);
std::shared_ptr<HeadScores> make_alibi(const PositionOptions& options);

namespace {

/// What a kind is made by: one of both, or neither.
struct Makers {
  std::shared_ptr<Positions> (*absolute)(const PositionOptions&) = nullptr;
  std::shared_ptr<HeadScores> (*relative)(const PositionOptions&) = nullptr;
};

Makers makers_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::kSinusoidal:
      return {.absolute = make_sinusoidal};
    case PositionKind::kLearned:
      return {.absolute = make_learned};
    case PositionKind::kHierarchical:
      return {.absolute = make_hierarchical};
    case PositionKind::kProduct:
      return {.absolute = make_product};
    case PositionKind::kRecurrent:
      return {.absolute = make_recurrent};
    case PositionKind::kConvolution:
      return {.absolute = make_convolution};
    case PositionKind::kComplex:
      return {.absolute = make_complex};
    case PositionKind::kShaw:
      return {.relative = make_shaw};
    case PositionKind::kT5:
      return {.relative = make_t5};
    case PositionKind::kTransformerXl:
      return {.relative = make_transformer_xl};
    case PositionKind::kDeberta:
      return {.relative = make_deberta};
    case PositionKind::kRotary:
      return {.relative = make_rotary};
    case PositionKind::kAlibi:
      return {.relative = make_alibi};
    case PositionKind::kNone:
      return {};
  }
  return {};
}

}  // namespace

std::shared_ptr<Positions> make_positions(const PositionOptions& options) {
  const auto make = makers_of(options.kind).absolute;
  return make ? make(options) : nullptr;
}

std::shared_ptr<HeadScores> make_relative_positions(const PositionOptions& options) {
  const auto make = makers_of(options.kind).relative;
  return make ? make(options) : nullptr;
}

}  // namespace nmt
