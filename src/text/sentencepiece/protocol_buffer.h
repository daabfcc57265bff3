#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nmt {

/// A field of a protocol buffer: a number, or bytes (of fixed-size numbers: their four or eight bytes).
struct ProtocolField {
  uint64_t id = 0, number = 0;
  std::string_view bytes;
  std::string_view whole;  ///< key, length and value as they stand
};

/// Every field in order, up to the end or to what is not of the format. True if that was the end.
bool for_each_field(std::string_view bytes, const std::function<void(const ProtocolField&)>& body);

void append_number_field(std::string& to, uint64_t id, uint64_t number);
void append_bytes_field(std::string& to, uint64_t id, std::string_view bytes);
void append_float_field(std::string& to, uint64_t id, float value);

}  // namespace nmt
