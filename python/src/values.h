#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace nmt::python {

/// The UTF-8 of a str; `name` says in the message what it is of. Throws TypeError for another type; UnicodeEncodeError,
/// a ValueError, for lone surrogates.
std::string text_of(nanobind::handle value, std::string_view name);
/// The same of a sequence of str, which a str is not.
std::vector<std::string> texts_of(nanobind::handle value, std::string_view name);

/// A bool, int or float, or what converts to it without loss; TypeError otherwise, OverflowError beyond 64 bits.
bool flag_of(nanobind::handle value, std::string_view name);
/// True or False, also NumPy's.
bool is_truth(nanobind::handle value);
std::int64_t whole_number_of(nanobind::handle value, std::string_view name);
double number_of(nanobind::handle value, std::string_view name);

/// TypeError "NAME: WANTED is expected, not TYPE".
[[noreturn]] void refuse(nanobind::handle value, std::string_view name, std::string_view wanted);

/// TypeError for an option that there is not, with the name that was perhaps meant.
[[noreturn]] void refuse_option(const std::string& name, const std::vector<std::string>& known);

}  // namespace nmt::python
