#include "report/tensorboard/tensorboard_event.h"

#include <bit>
#include <cstddef>
#include <numeric>

namespace nmt {
namespace {

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Encodes the fields of one protocol buffer message.
class Message {
 public:
  Message& integer(uint64_t field, int64_t value) {
    key(field, kVarint);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real64(uint64_t field, double value) {
    key(field, kFixed64);
    fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Message& real32(uint64_t field, float value) {
    key(field, kFixed32);
    fixed(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  Message& bytes(uint64_t field, std::string_view value) {
    key(field, kBytes);
    varint(value.size());
    encoded_ += value;
    return *this;
  }
  Message& message(uint64_t field, const Message& value) { return bytes(field, value.encoded_); }
  Message& packed(uint64_t field, std::span<const double> values) {
    Message numbers;
    for (const double value : values) numbers.fixed(std::bit_cast<uint64_t>(value), 8);
    return message(field, numbers);
  }
  const std::string& encoded() const { return encoded_; }

 private:
  void key(uint64_t field, WireType type) { varint(field << 3 | type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) encoded_ += static_cast<char>(value | 0x80);
    encoded_ += static_cast<char>(value);
  }
  void fixed(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) encoded_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string encoded_;
};

// Numbers of the fields in TensorBoard's .proto files.
enum EventField : uint64_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
enum ValueField : uint64_t { kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5, kTensor = 8, kMetadata = 9 };
enum ImageField : uint64_t { kHeight = 1, kWidth = 2, kColourSpace = 3, kEncodedImage = 4 };
enum HistogramField : uint64_t {
  kMin = 1,
  kMax = 2,
  kCount = 3,
  kSum = 4,
  kSumOfSquares = 5,
  kBucketLimits = 6,
  kBuckets = 7
};
enum TensorField : uint64_t { kDataType = 1, kShape = 2, kStringValue = 8 };
constexpr uint64_t kSummaryValue = 1, kSessionStatus = 1, kShapeDimension = 2, kDimensionSize = 1, kPluginData = 1,
                   kPluginName = 1, kDataClass = 4;
constexpr int64_t kSessionStarted = 1, kStringType = 7, kTensorClass = 2, kRgb = 3;

Message event_at(const EventTime& time) {
  return Message().real64(kWallTime, time.wall_time).integer(kStep, time.step);
}

std::string encode_tensor_of_text(const EventTime& time, std::string_view tag, const Message& tensor) {
  const Message metadata =
      Message().message(kPluginData, Message().bytes(kPluginName, "text")).integer(kDataClass, kTensorClass);
  const Message value = Message().bytes(kTag, tag).message(kTensor, tensor).message(kMetadata, metadata);
  return event_at(time).message(kSummary, Message().message(kSummaryValue, value)).encoded();
}

std::optional<uint64_t> read_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

/// Drops the value of a field that is not needed. False if it is not whole.
bool skip_value(std::string_view& bytes, uint64_t type) {
  uint64_t size = 0;
  if (type == kVarint) return read_varint(bytes).has_value();
  if (type == kBytes) {
    const auto length = read_varint(bytes);
    if (!length) return false;
    size = *length;
  } else if (type == kFixed64 || type == kFixed32) {
    size = type == kFixed64 ? 8 : 4;
  } else {
    return false;
  }
  if (size > bytes.size()) return false;
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::string encode_file_version(double wall_time) {
  return Message().real64(kWallTime, wall_time).bytes(kFileVersion, "brain.Event:2").encoded();
}

std::string encode_session_start(const EventTime& time) {
  return event_at(time).message(kSessionLog, Message().integer(kSessionStatus, kSessionStarted)).encoded();
}

std::string encode_scalars(const EventTime& time, std::span<const ScalarSummary> scalars) {
  Message summary;
  for (const auto& scalar : scalars) {
    summary.message(kSummaryValue,
                    Message().bytes(kTag, scalar.tag).real32(kSimpleValue, static_cast<float>(scalar.value)));
  }
  return event_at(time).message(kSummary, summary).encoded();
}

std::string encode_text_table(const EventTime& time, std::string_view tag, const TextTable& table) {
  const size_t columns = table.empty() ? 0 : table.front().size();
  Message shape;
  for (const size_t size : {table.size(), columns}) {
    shape.message(kShapeDimension, Message().integer(kDimensionSize, static_cast<int64_t>(size)));
  }
  Message tensor;
  tensor.integer(kDataType, kStringType).message(kShape, shape);
  for (const auto& row : table) {
    for (const auto& cell : row) tensor.bytes(kStringValue, cell);
  }
  return encode_tensor_of_text(time, tag, tensor);
}

std::string encode_text(const EventTime& time, std::string_view tag, std::string_view markdown) {
  const Message shape = Message().message(kShapeDimension, Message().integer(kDimensionSize, 1));
  return encode_tensor_of_text(
      time, tag, Message().integer(kDataType, kStringType).message(kShape, shape).bytes(kStringValue, markdown));
}

std::string encode_image(const EventTime& time, std::string_view tag, const PngImage& image) {
  const Message encoded = Message()
                              .integer(kHeight, image.height)
                              .integer(kWidth, image.width)
                              .integer(kColourSpace, kRgb)
                              .bytes(kEncodedImage, image.png);
  const Message value = Message().bytes(kTag, tag).message(kImage, encoded);
  return event_at(time).message(kSummary, Message().message(kSummaryValue, value)).encoded();
}

std::string encode_histogram(const EventTime& time, const TensorHistogram& histogram) {
  const double count = std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
  const Message encoded = Message()
                              .real64(kMin, histogram.min)
                              .real64(kMax, histogram.max)
                              .real64(kCount, count)
                              .real64(kSum, histogram.sum)
                              .real64(kSumOfSquares, histogram.sum_of_squares)
                              .packed(kBucketLimits, histogram.limits)
                              .packed(kBuckets, histogram.counts);
  const Message value = Message().bytes(kTag, histogram.name).message(kHistogram, encoded);
  return event_at(time).message(kSummary, Message().message(kSummaryValue, value)).encoded();
}

std::optional<int64_t> step_of_event(std::string_view event) {
  int64_t step = 0;  // a field that is absent is 0
  while (!event.empty()) {
    const auto key = read_varint(event);
    if (!key) return std::nullopt;
    if (*key == (kStep << 3 | kVarint)) {
      const auto value = read_varint(event);
      if (!value) return std::nullopt;
      step = static_cast<int64_t>(*value);
    } else if (!skip_value(event, *key & 7)) {
      return std::nullopt;
    }
  }
  return step;
}

}  // namespace nmt
