#include "report/tensorboard/tensorboard_event.h"

#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "base/files/protocol_buffer.h"

namespace nmt {
namespace {

using Message = ProtocolMessage;

// Numbers of the fields in TensorFlow's .proto files.
enum GraphField : uint64_t { kNode = 1, kVersions = 4 };
enum NodeField : uint64_t { kName = 1, kOp = 2, kInput = 3, kAttribute = 5 };
enum MapField : uint64_t { kKey = 1, kValue = 2 };
enum AttributeField : uint64_t { kList = 1, kType = 6, kShapeOfList = 7 };
constexpr uint64_t kGraphDimension = 2, kGraphDimensionSize = 1, kProducer = 1;
constexpr uint64_t kFloat = 1, kGraphVersion = 22;

constexpr std::string_view kModule = "module";

Message attribute(std::string_view key, const Message& value) {
  return Message().bytes(kKey, key).message(kValue, value);
}

Message weight_node(const std::string& path, const std::vector<int64_t>& sizes) {
  Message shape;
  for (const int64_t size : sizes)
    shape.message(kGraphDimension, Message().number(kGraphDimensionSize, static_cast<uint64_t>(size)));
  const Message shapes = Message().message(kList, Message().message(kShapeOfList, shape));
  return Message()
      .bytes(kName, path)
      .bytes(kOp, "Weight")
      .message(kAttribute, attribute("dtype", Message().number(kType, kFloat)))
      .message(kAttribute, attribute("_output_shapes", shapes));
}

std::string with_slashes(std::string name) {
  for (char& c : name)
    if (c == '.') c = '/';
  return name;
}

// "a/b" of "a/b/c", "" of "a".
std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string module_node_name(const std::string& module) {
  return module.empty() ? "model" : module + "/" + std::string(kModule);
}

}  // namespace

std::string encode_model_graph(std::span<const VariableShape> weights) {
  Message graph;
  std::map<std::string, std::vector<std::string>> modules;  // path -> nodes that it consists of
  std::set<std::string> known;
  for (const auto& weight : weights) {
    const std::string path = with_slashes(weight.name);
    graph.message(kNode, weight_node(path, weight.sizes));
    std::string module = parent_of(path);
    modules[module].push_back(path);
    while (!module.empty() && known.insert(module).second) {
      const std::string parent = parent_of(module);
      modules[parent].push_back(module_node_name(module));
      module = parent;
    }
  }
  for (const auto& [module, parts] : modules) {
    Message node = Message().bytes(kName, module_node_name(module)).bytes(kOp, "Module");
    for (const auto& part : parts) node.bytes(kInput, part);
    graph.message(kNode, node);
  }
  return graph.message(kVersions, Message().number(kProducer, kGraphVersion)).encoded();
}

std::span<const VariableShape> weights_of(const TrainingStart& start) {
  int64_t values = 0;
  size_t count = 0;
  while (count < start.variables.size() && values < start.parameters) {
    int64_t of_this = 1;
    for (const int64_t size : start.variables[count].sizes) of_this *= size;
    values += of_this;
    ++count;
  }
  return std::span(start.variables).first(count);
}

namespace {

// Numbers of the fields in TensorBoard's .proto files.
enum EventField : uint64_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kGraph = 4, kSummary = 5, kSessionLog = 7 };
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

Message event_at(const EventTime& time) { return Message().real64(kWallTime, time.wall_time).number(kStep, time.step); }

std::string encode_tensor_of_text(const EventTime& time, std::string_view tag, const Message& tensor) {
  const Message metadata =
      Message().message(kPluginData, Message().bytes(kPluginName, "text")).number(kDataClass, kTensorClass);
  const Message value = Message().bytes(kTag, tag).message(kTensor, tensor).message(kMetadata, metadata);
  return event_at(time).message(kSummary, Message().message(kSummaryValue, value)).encoded();
}

}  // namespace

std::string encode_file_version(double wall_time) {
  return Message().real64(kWallTime, wall_time).bytes(kFileVersion, "brain.Event:2").encoded();
}

std::string encode_session_start(const EventTime& time) {
  return event_at(time).message(kSessionLog, Message().number(kSessionStatus, kSessionStarted)).encoded();
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
    shape.message(kShapeDimension, Message().number(kDimensionSize, size));
  }
  Message tensor;
  tensor.number(kDataType, kStringType).message(kShape, shape);
  for (const auto& row : table) {
    for (const auto& cell : row) tensor.bytes(kStringValue, cell);
  }
  return encode_tensor_of_text(time, tag, tensor);
}

std::string encode_text(const EventTime& time, std::string_view tag, std::string_view markdown) {
  const Message shape = Message().message(kShapeDimension, Message().number(kDimensionSize, 1));
  return encode_tensor_of_text(
      time, tag, Message().number(kDataType, kStringType).message(kShape, shape).bytes(kStringValue, markdown));
}

std::string encode_image(const EventTime& time, std::string_view tag, const Image& image) {
  const Message encoded = Message()
                              .number(kHeight, image.height)
                              .number(kWidth, image.width)
                              .number(kColourSpace, kRgb)
                              .bytes(kEncodedImage, encode_png(image));
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

std::string encode_graph(const EventTime& time, std::string_view graph) {
  return event_at(time).bytes(kGraph, graph).encoded();
}

std::optional<int64_t> step_of_event(std::string_view event) {
  int64_t step = 0;  // a field that is absent is 0
  const bool is_whole = for_each_field(event, [&](const ProtocolField& field) {
    if (field.id == kStep && field.type == WireType::kNumber) step = static_cast<int64_t>(field.number);
  });
  return is_whole ? std::optional(step) : std::nullopt;
}

}  // namespace nmt
