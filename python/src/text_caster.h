#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace nanobind::detail {

/// In place of nanobind/stl/string.h: a str of lone surrogates comes in, too. Those of "surrogateescape", bytes that
/// Python could not decode, as the bytes that they were, others as three bytes that are no UTF-8: the library reads
/// either as U+FFFD.
template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    Py_ssize_t size = 0;
    if (const char* const bytes = PyUnicode_AsUTF8AndSize(source.ptr(), &size)) {
      value.assign(bytes, static_cast<std::size_t>(size));
      return true;
    }
    for (const char* const errors : {"surrogateescape", "surrogatepass"}) {
      PyErr_Clear();
      const auto encoded = steal(PyUnicode_AsEncodedString(source.ptr(), "utf-8", errors));
      if (!encoded.is_valid()) continue;
      value.assign(PyBytes_AS_STRING(encoded.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr())));
      return true;
    }
    PyErr_Clear();
    return false;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  }
};

}  // namespace nanobind::detail
