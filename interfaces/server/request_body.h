#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files/strict_json.h"

namespace nmt {

/// What a client sent: the fields of a JSON object or of a form. The readers throw RequestError 400 that names the
/// field: missing, of the wrong type, not UTF-8, with a NUL. Line ends of a form's texts become \n.
///
/// A field is either content, which counts among the characters of the request, or a short word, such as the code of a
/// language: kContent in the .cpp has the names of the former, and of any other field text() refuses a long value.
class RequestBody {
 public:
  /// Throws RequestError 400 where the text is no JSON object in UTF-8 whose fields are numbers, texts or lists of
  /// them.
  static RequestBody from_json(const std::string& text);
  static RequestBody from_form(const std::map<std::string, std::string>& fields);

  bool has(const std::string& name) const { return find(name) != nullptr; }
  bool is_list(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;  ///< a text, or a list of texts; it must be there
  std::string text(const std::string& name) const;                ///< empty where it is missing or null
  int64_t characters() const;                                     ///< of all content
  bool is_blank() const;                                          ///< no content but white space
  int64_t whole_number(const std::string& name, int64_t missing) const;  ///< 0 or more; in a form, digits
  bool yes_or_no(const std::string& name) const;                         ///< false where missing; in a form, "true"

 private:
  explicit RequestBody(nlohmann::json fields) : fields_(std::move(fields)) {}
  void for_content(const std::function<void(const std::string&)>& see) const;
  const nlohmann::json* find(const std::string& name) const;

  nlohmann::json fields_;  ///< an object
};

}  // namespace nmt
