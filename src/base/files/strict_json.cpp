#include "base/files/strict_json.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

/// Looks at a text without building anything of it; ends at what is wrong.
class JsonGuard : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonGuard(const JsonLimits& limits) : limits_(limits) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool key(string_t&) override { return true; }
  bool start_object(size_t) override { return begin(); }
  bool start_array(size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    problem_ = fmt::format("not JSON (at byte {})", position);
    return false;
  }

 private:
  bool count() {
    if (++values_ > limits_.values) problem_ = fmt::format("of more than {} values", limits_.values);
    return problem_.empty();
  }
  bool begin() {
    if (++depth_ > limits_.depth) problem_ = fmt::format("nested deeper than {} levels", limits_.depth);
    return count();
  }
  bool end() {
    --depth_;
    return true;
  }

  const JsonLimits& limits_;
  size_t depth_ = 0, values_ = 0;
  std::string problem_;
};

}  // namespace

std::optional<std::string> problem_of_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) return fmt::format("of more than {} bytes", limits.bytes);
  JsonGuard guard(limits);
  if (nlohmann::json::sax_parse(text, &guard)) return std::nullopt;
  return guard.problem();
}

template <typename Json>
Json parse_json_or_null(std::string_view text, const JsonLimits& limits) {
  return problem_of_json(text, limits) ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

template <typename Json>
Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  if (const auto problem = problem_of_json(text, limits)) throw Error(fmt::format("{}: damaged: {}", name, *problem));
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_error_line(const nlohmann::json::exception& error) {
  return fmt::format("a file of JSON has another form than this program reads ({})", error.what());
}

std::string_view escape_hint(std::string_view text) {
  const bool halves = text.find("\\ud") != text.npos || text.find("\\uD") != text.npos;
  return halves ? ", or one with half of a pair of \\ud800 to \\udfff" : "";
}

template nlohmann::json parse_json(std::string_view, const std::string&, const JsonLimits&);
template nlohmann::ordered_json parse_json(std::string_view, const std::string&, const JsonLimits&);
template nlohmann::json parse_json_or_null(std::string_view, const JsonLimits&);
template nlohmann::ordered_json parse_json_or_null(std::string_view, const JsonLimits&);

nlohmann::json read_json_file(const std::filesystem::path& path, const JsonLimits& limits) {
  return parse_json(read_regular_file(path, limits.bytes), path.string(), limits);
}

}  // namespace nmt
