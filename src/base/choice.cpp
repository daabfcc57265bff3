#include "base/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace nmt {
namespace {

/// The index of a name, or their number where it is none of them.
size_t index_of(std::span<const std::string_view> names, std::string_view name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

bool NamedChoice::assign(std::string_view name) {
  const size_t index = index_of(names_, name);
  if (index == names_.size()) return false;
  index_ = index;
  return true;
}

void NamedChoice::assign_or_throw(std::string_view name) {
  if (!assign(name)) throw Error(fmt::format("'{}' is not one of: {}", name, fmt::join(names_, ", ")));
}

std::vector<std::string> NamedChoices::chosen_names() const {
  std::vector<std::string> result;
  for (const size_t index : indices_) result.emplace_back(names_[index]);
  return result;
}

bool NamedChoices::append(std::string_view name) {
  const size_t index = index_of(names_, name);
  if (index == names_.size()) return false;
  indices_.push_back(index);
  return true;
}

}  // namespace nmt
