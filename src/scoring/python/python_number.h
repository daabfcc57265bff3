#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nmt::scoring {

/// f"{value:.{width}f}" of Python. Throws nmt::Error for a negative width.
std::string fixed(double value, int width);

/// repr(value) of Python: the shortest digits that read back as the same number; "100.0", "1e-05", "nan".
std::string repr(double value);

/// json.dumps(value) of Python: as repr, but NaN and Infinity.
std::string json_number(double value);

/// json.dumps(text) of Python, in quotes. kAscii escapes all beyond ASCII (\uXXXX). text: UTF-8.
enum class JsonEscapes { kAscii, kControlOnly };
std::string json_string(std::string_view text, JsonEscapes escapes);

/// int(text) and float(text) of Python: white space around, a sign, underscores between digits. nullopt: not a number,
/// or an integer beyond 64 bits.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_float(std::string_view text);

}  // namespace nmt::scoring
