#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace nmt {

// Messages of protocol buffers without their compiler: SentencePiece's models and TensorBoard's events are such
// (protobuf.dev, "Encoding").

enum class WireType : uint64_t { kNumber = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// A field of a message: a number, or bytes (of fixed-size numbers: their four or eight bytes).
struct ProtocolField {
  uint64_t id = 0;
  WireType type = WireType::kNumber;
  uint64_t number = 0;
  std::string_view bytes = {};
  std::string_view whole = {};  ///< key, length and value as they stand
};

/// Every field in order, up to the end or to what is not of the format. True if that was the end.
bool for_each_field(std::string_view bytes, const std::function<void(const ProtocolField&)>& body);

/// Encodes the fields of a message, one after the other.
class ProtocolMessage {
 public:
  ProtocolMessage& number(uint64_t id, uint64_t value);
  ProtocolMessage& real64(uint64_t id, double value);
  ProtocolMessage& real32(uint64_t id, float value);
  ProtocolMessage& bytes(uint64_t id, std::string_view value);
  ProtocolMessage& message(uint64_t id, const ProtocolMessage& value) { return bytes(id, value.encoded_); }
  ProtocolMessage& packed(uint64_t id, std::span<const double> values);
  /// A field of another message as it stands.
  ProtocolMessage& copy(const ProtocolField& field);
  const std::string& encoded() const { return encoded_; }

 private:
  void key(uint64_t id, WireType type);
  void varint(uint64_t value);
  void fixed(uint64_t value, int size);
  std::string encoded_;
};

}  // namespace nmt
