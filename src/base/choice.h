#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The words by which users name the values of an enum, in the order of its enumerators. It stands beside the enum
/// (config/kinds.h), and is all that readers, help, messages and documents know of the kinds:
///   enum class Norm { kPost, kPre };
///   template <>
///   inline constexpr auto kNames<Norm> = names("post", "pre");
template <typename Enum>
inline constexpr auto kNames = nullptr;

template <typename... Name>
constexpr auto names(Name... name) {
  return std::array<std::string_view, sizeof...(Name)>{name...};
}

/// What all choices have in common: an index among names.
class NamedChoice {
 public:
  std::string name() const { return std::string(names_[index_]); }
  std::span<const std::string_view> names() const { return names_; }
  bool assign(std::string_view name);  ///< false where it is none of the names; nothing is changed then

 protected:
  constexpr NamedChoice(std::span<const std::string_view> names, size_t index) : names_(names), index_(index) {}
  void assign_or_throw(std::string_view name);

  std::span<const std::string_view> names_;
  size_t index_;
};

namespace choice_details {
/// Whether the enum has an enumerator of this value: the compiler spells one that has none as "(Enum)7".
template <auto value>
constexpr bool is_enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const size_t start = text.find("value = ") + 8;
  return text.find('(', start) == std::string_view::npos;
}
}  // namespace choice_details

/// A value of an enum that has names. It is the enum in every expression (comparisons, switch), and is made of a name,
/// too: where the name is unknown, that throws Error with all names.
template <typename Enum>
class Choice final : public NamedChoice {
  static constexpr size_t kCount = kNames<Enum>.size();
  static_assert(choice_details::is_enumerator<static_cast<Enum>(kCount - 1)>() &&
                    !choice_details::is_enumerator<static_cast<Enum>(kCount)>(),
                "as many names as enumerators");

 public:
  constexpr Choice(Enum value) : NamedChoice(kNames<Enum>, static_cast<size_t>(value)) {}
  Choice(std::string_view name) : Choice(Enum{}) { assign_or_throw(name); }
  Choice(const char* name) : Choice(std::string_view(name)) {}
  Choice(const std::string& name) : Choice(std::string_view(name)) {}

  constexpr operator Enum() const { return static_cast<Enum>(index_); }
};

/// A list of choices, as a user writes it.
class NamedChoices {
 public:
  std::vector<std::string> chosen_names() const;
  std::span<const std::string_view> names() const { return names_; }
  size_t size() const { return indices_.size(); }
  bool empty() const { return indices_.empty(); }
  void clear() { indices_.clear(); }
  bool append(std::string_view name);  ///< false where it is none of the names

 protected:
  explicit NamedChoices(std::span<const std::string_view> names) : names_(names) {}

  std::span<const std::string_view> names_;
  std::vector<size_t> indices_;
};

template <typename Enum>
class Choices final : public NamedChoices {
 public:
  Choices() : NamedChoices(kNames<Enum>) {}
  Choices(std::initializer_list<Choice<Enum>> values) : Choices() {
    for (const auto& value : values) append(value.name());
  }

  bool contains(Enum value) const {
    return std::find(indices_.begin(), indices_.end(), static_cast<size_t>(value)) != indices_.end();
  }
  std::vector<Enum> values() const {
    std::vector<Enum> result;
    for (const size_t index : indices_) result.push_back(static_cast<Enum>(index));
    return result;
  }
};

/// The name of a value.
template <typename Enum>
std::string name_of(Enum value) {
  return Choice<Enum>(value).name();
}

}  // namespace nmt
