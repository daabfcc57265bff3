#include "nn/positions/positions.h"

#include <string_view>

#include "base/error.h"

// The registry: one word a kind, made by make_<kind>() of positions/<kind>.cpp (docs/extending.md).
#define NMT_ABSOLUTE_POSITIONS(KIND) KIND(sinusoidal) KIND(learned) KIND(hierarchical) KIND(product) KIND(recurrent)
#define NMT_RELATIVE_POSITIONS(KIND) KIND(shaw) KIND(t5) KIND(transformer_xl) KIND(deberta) KIND(rotary) KIND(alibi)

namespace nmt {

#define NMT_DECLARE(kind) std::shared_ptr<Positions> make_##kind(const PositionOptions& options);
NMT_ABSOLUTE_POSITIONS(NMT_DECLARE)
#undef NMT_DECLARE
#define NMT_DECLARE(kind) std::shared_ptr<HeadScores> make_##kind(const PositionOptions& options);
NMT_RELATIVE_POSITIONS(NMT_DECLARE)
#undef NMT_DECLARE

namespace {

template <typename Made>
struct Kind {
  std::string_view name;
  std::shared_ptr<Made> (*make)(const PositionOptions&);
};
#define NMT_ENTRY(kind) {#kind, make_##kind},
constexpr Kind<Positions> kAbsolute[] = {NMT_ABSOLUTE_POSITIONS(NMT_ENTRY)};
constexpr Kind<HeadScores> kRelative[] = {NMT_RELATIVE_POSITIONS(NMT_ENTRY)};
#undef NMT_ENTRY

template <typename Made, size_t kCount>
const Kind<Made>* find(const Kind<Made> (&kinds)[kCount], const std::string& name) {
  for (const auto& kind : kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

void check(const std::string& name) {
  if (name == "none" || find(kAbsolute, name) || find(kRelative, name)) return;
  std::string choices;
  for (const auto& kind : kAbsolute) choices += std::string(kind.name) + ", ";
  for (const auto& kind : kRelative) choices += std::string(kind.name) + ", ";
  throw Error("model.positions: '" + name + "' is none of " + choices + "none");
}

}  // namespace

std::shared_ptr<Positions> make_positions(const PositionOptions& options) {
  check(options.kind);
  const auto* kind = find(kAbsolute, options.kind);
  return kind ? kind->make(options) : nullptr;
}

std::shared_ptr<HeadScores> make_relative_positions(const PositionOptions& options) {
  check(options.kind);
  const auto* kind = find(kRelative, options.kind);
  return kind ? kind->make(options) : nullptr;
}

}  // namespace nmt
