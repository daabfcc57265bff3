#include "report/tensorboard/model_graph.h"

#include <map>
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

}  // namespace nmt
