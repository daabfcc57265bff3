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

/// nmt.Sampling: tokens are drawn instead of searched for.
void assign_sampling(DecodingOptions& options, nb::handle value) {
  if (!nb::isinstance(value, nb::module_::import_("nmt._results").attr("Sampling")))
    refuse(value, "sampling", "nmt.Sampling");
  options.sampling = true;
  options.temperature = number_of(value.attr("temperature"), "temperature");
  options.top_k = whole_number_of(value.attr("top_k"), "top_k");
  options.top_p = number_of(value.attr("top_p"), "top_p");
  options.seed = whole_number_of(value.attr("seed"), "seed");
  if (*options.seed < 0) throw UserError("seed " + std::to_string(*options.seed) + ": use 0 or more");
}

template <typename Value>
void assign_value(Value& place, nb::handle value, const char* name) {
  if constexpr (std::is_same_v<Value, bool>) {
    place = flag_of(value, name);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    place = whole_number_of(value, name);
  } else if constexpr (std::is_same_v<Value, double>) {
    place = number_of(value, name);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    place = text_of(value, name);
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    place = texts_of(value, name);
  } else {
    static_assert(std::is_same_v<Value, Glossary>);
    place = nb::cast<Glossary>(value);
  }
}

template <auto kMember>
void assign(TranslateOptions& options, nb::handle value, const char* name) {
  assign_value(options.*kMember, value, name);
}

/// Whether there is an option of the section `decoding` of this name; then it has the value.
bool assign_decoding(DecodingOptions& options, nb::handle value, const std::string& name) {
  bool found = false;
  for_each_option(options, [&]<typename Value>(const char* member, std::optional<Value>& place) {
    if (name != member) return;
    found = true;
    if (!value.is_none()) assign_value(place.emplace(), value, member);
  });
  return found;
}

struct Option {
  const char* name;
  void (*assign)(TranslateOptions& options, nb::handle value, const char* name);
};

using O = TranslateOptions;
constexpr Option kOptions[] = {
    {"n_best", assign<&O::n_best>},
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

void set_options(DecodingOptions& options, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::size_t sign = setting.find('=');
    set_option(options, setting.substr(0, sign), sign == std::string::npos ? "" : setting.substr(sign + 1));
  }
}

TranslateOptions translate_options(const nb::dict& options) {
  TranslateOptions result;
  for (const auto [key, value] : options) {
    const std::string name = text_of(key, "option");
    if (name == "sampling") {
      if (!value.is_none()) assign_sampling(result.decoding, value);
      continue;
    }
    if (name == "settings") {
      if (!value.is_none()) set_options(result.decoding, texts_of(value, "settings"));
      continue;
    }
    if (assign_decoding(result.decoding, value, name)) continue;
    const auto* const option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                            [&](const Option& candidate) { return name == candidate.name; });
    if (option == std::end(kOptions)) {
      std::vector<std::string> known = {"settings"};
      for (const Option& candidate : kOptions) known.emplace_back(candidate.name);
      for_each_option(result.decoding, [&](const char* member, const auto&) { known.emplace_back(member); });
      refuse_option(name, known);
    }
    if (!value.is_none()) option->assign(result, value, option->name);
  }
  return result;
}

std::vector<Request> requests_of(const nb::list& texts, std::size_t first) {
  const nb::object request_type = nb::module_::import_("nmt._results").attr("Request");
  std::vector<Request> requests;
  requests.reserve(texts.size());
  for (const nb::handle item : texts) {
    const auto name = [&] { return "texts[" + std::to_string(first + requests.size()) + "]"; };
    Request request;
    if (PyUnicode_Check(item.ptr())) {
      request.source = text_of(item, name());
    } else if (nb::isinstance(item, request_type)) {
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
