#include "values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nmt/error.h"

namespace nb = nanobind;

namespace nmt::python {

void refuse(nb::handle value, std::string_view name, std::string_view wanted) {
  const std::string type = nb::cast<std::string>(value.type().attr("__name__"));
  throw nb::type_error((std::string(name) + ": " + std::string(wanted) + " is expected, not " + type).c_str());
}

void refuse_option(const std::string& name, const std::vector<std::string>& known) {
  const auto near =
      nb::cast<std::vector<std::string>>(nb::module_::import_("difflib").attr("get_close_matches")(name, known, 1));
  std::string message = "there is no option " + name;
  if (!near.empty()) message += "; did you mean " + near.front() + "?";
  throw nb::type_error(message.c_str());
}

std::string text_of(nb::handle value, std::string_view name) {
  if (!PyUnicode_Check(value.ptr())) refuse(value, name, "a str");
  Py_ssize_t size = 0;
  if (const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size))
    return {bytes, static_cast<std::size_t>(size)};
  // Halves of surrogate pairs: bytes that Python could not decode ("surrogateescape") come out as they were, others as
  // no UTF-8 either, which the library reads as U+FFFD.
  for (const char* const errors : {"surrogateescape", "surrogatepass"}) {
    PyErr_Clear();
    const auto encoded = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", errors));
    if (encoded.is_valid())
      return {PyBytes_AS_STRING(encoded.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr()))};
  }
  nb::raise_python_error();
}

std::vector<std::string> texts_of(nb::handle value, std::string_view name) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) refuse(value, name, "a list of str");
  const auto items = nb::steal(PySequence_Fast(value.ptr(), "a list of str is expected"));
  if (!items.is_valid()) {
    PyErr_Clear();
    refuse(value, name, "a list of str");
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr())));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    const nb::handle item = PySequence_Fast_GET_ITEM(items.ptr(), i);
    if (!PyUnicode_Check(item.ptr())) refuse(item, std::string(name) + "[" + std::to_string(i) + "]", "a str");
    texts.push_back(text_of(item, name));
  }
  return texts;
}

bool is_truth(nb::handle value) {
  return PyBool_Check(value.ptr()) || std::string_view(Py_TYPE(value.ptr())->tp_name).starts_with("numpy.bool");
}

bool flag_of(nb::handle value, std::string_view name) {
  if (!is_truth(value)) refuse(value, name, "True or False");
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::int64_t whole_number_of(nb::handle value, std::string_view name) {
  if (PyIndex_Check(value.ptr()) == 0 || PyBool_Check(value.ptr())) refuse(value, name, "a whole number");
  const auto number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) nb::raise_python_error();
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0)
    throw UserError(std::string(name) + ": the number is out of range; use at " +
                    (overflow > 0 ? "most 9223372036854775807" : "least -9223372036854775808"));
  if (whole == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return whole;
}

double number_of(nb::handle value, std::string_view name) {
  if (PyNumber_Check(value.ptr()) == 0 || PyBool_Check(value.ptr())) refuse(value, name, "a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return number;
}

}  // namespace nmt::python
