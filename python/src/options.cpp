#include "options.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "nmt/error.h"
#include "values.h"

namespace nb = nanobind;

namespace nmt::python {

namespace {

Sampling sampling_of(nb::handle value) {
  if (!nb::isinstance(value, nb::module_::import_("nmt._results").attr("Sampling")))
    refuse(value, "sampling", "nmt.Sampling");
  Sampling sampling;
  sampling.temperature = number_of(value.attr("temperature"), "temperature");
  sampling.top_k = whole_number_of(value.attr("top_k"), "top_k");
  sampling.top_p = number_of(value.attr("top_p"), "top_p");
  const std::int64_t seed = whole_number_of(value.attr("seed"), "seed");
  if (seed < 0) throw UserError("seed " + std::to_string(seed) + ": use 0 or more");
  sampling.seed = static_cast<std::uint64_t>(seed);
  return sampling;
}

template <typename Field>
struct Wanted {
  using Type = Field;
};
template <typename Value>
struct Wanted<std::optional<Value>> {
  using Type = Value;
};

template <auto kMember>
void assign(TranslateOptions& options, nb::handle value, const char* name) {
  auto& field = options.*kMember;
  using Type = typename Wanted<std::remove_reference_t<decltype(field)>>::Type;
  if constexpr (std::is_same_v<Type, bool>) {
    field = flag_of(value, name);
  } else if constexpr (std::is_same_v<Type, std::int64_t>) {
    field = whole_number_of(value, name);
  } else if constexpr (std::is_same_v<Type, double>) {
    field = number_of(value, name);
  } else if constexpr (std::is_same_v<Type, std::string>) {
    field = text_of(value, name);
  } else if constexpr (std::is_same_v<Type, std::vector<std::string>>) {
    field = texts_of(value, name);
  } else if constexpr (std::is_same_v<Type, Sampling>) {
    field = sampling_of(value);
  } else {
    static_assert(std::is_same_v<Type, Glossary>);
    field = nb::cast<Glossary>(value);
  }
}

struct Option {
  const char* name;
  void (*assign)(TranslateOptions& options, nb::handle value, const char* name);
};

using O = TranslateOptions;
constexpr Option kOptions[] = {
    {"beam_size", assign<&O::beam_size>},
    {"n_best", assign<&O::n_best>},
    {"length_penalty", assign<&O::length_penalty>},
    {"coverage_penalty", assign<&O::coverage_penalty>},
    {"max_length_ratio", assign<&O::max_length_ratio>},
    {"max_length_offset", assign<&O::max_length_offset>},
    {"min_length", assign<&O::min_length>},
    {"max_length", assign<&O::max_length>},
    {"no_repeat_ngram_size", assign<&O::no_repeat_ngram_size>},
    {"repetition_penalty", assign<&O::repetition_penalty>},
    {"ban_unknown", assign<&O::ban_unknown>},
    {"diversity_groups", assign<&O::diversity_groups>},
    {"diversity_strength", assign<&O::diversity_strength>},
    {"sampling", assign<&O::sampling>},
    {"batch_size", assign<&O::batch_size>},
    {"settings", assign<&O::settings>},
    {"prefix", assign<&O::prefix>},
    {"must", assign<&O::must>},
    {"must_not", assign<&O::must_not>},
    {"glossary", assign<&O::glossary>},
    {"keep_placeholders", assign<&O::keep_placeholders>},
    {"split_sentences", assign<&O::split_sentences>},
    {"copy_unknown", assign<&O::copy_unknown>},
    {"return_tokens", assign<&O::token_scores>},
    {"return_alignment", assign<&O::alignment>},
    {"return_attention", assign<&O::attention>},
    {"first_line", assign<&O::first_line>},
};

}  // namespace

TranslateOptions translate_options(const nb::dict& options) {
  TranslateOptions result;
  for (const auto [key, value] : options) {
    const std::string name = text_of(key, "option");
    const auto* const option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                            [&](const Option& candidate) { return name == candidate.name; });
    if (option == std::end(kOptions)) {
      std::vector<std::string> known;
      for (const Option& candidate : kOptions) known.emplace_back(candidate.name);
      refuse_option(name, known);
    }
    if (!value.is_none()) option->assign(result, value, option->name);
  }
  return result;
}

std::vector<Request> requests_of(const nb::list& texts, std::size_t first) {
  const nb::object wishes = nb::module_::import_("nmt._results").attr("Request");
  std::vector<Request> requests;
  requests.reserve(texts.size());
  for (const nb::handle item : texts) {
    const auto name = [&] { return "texts[" + std::to_string(first + requests.size()) + "]"; };
    Request request;
    if (PyUnicode_Check(item.ptr())) {
      request.source = text_of(item, name());
    } else if (nb::isinstance(item, wishes)) {
      request.source = text_of(item.attr("source"), name() + ".source");
      request.prefix = text_of(item.attr("prefix"), name() + ".prefix");
      request.must = texts_of(item.attr("must"), name() + ".must");
      request.must_not = texts_of(item.attr("must_not"), name() + ".must_not");
    } else {
      refuse(item, name(), "a str or nmt.Request");
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace nmt::python
