#include "training/operation_classes.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace nmt {
namespace {

struct Row {
  std::string_view name;
  std::vector<std::string_view> parts;  // of names in lower case without underscores
};

// The first row with a part that stands in a name has it: "attention" before "dropout", "embedding" before "add".
const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"attention", {"attention"}},
      {"normalisation", {"norm"}},
      {"recurrent cells", {"gru", "lstm", "rnn"}},
      {"softmax and loss", {"softmax", "nllloss", "crossentropy", "logsumexp"}},
      {"embeddings", {"embedding"}},
      {"dropout", {"dropout", "bernoulli"}},
      {"matrix products", {"addmm", "baddbmm", "bmm", "::mm", "mmbackward", "matmul", "linear", "packedproduct"}},
      {"copies",
       {"copy", "::to", "tocopy", "::cat", "catbackward", "clone", "contiguous", "indexselect", "gather", "scatter",
        "::index", "stack", "memcpy"}},
      {"reductions", {"sum", "mean", "max", "min", "::all", "::any", "::var"}},
      {"element-wise",
       {"add",  "mul",     "sub",     "::div", "divbackward", "sqrt",        "pow",   "relu",       "gelu", "silu",
        "tanh", "sigmoid", "exp",     "log",   "::neg",       "negbackward", "where", "maskedfill", "fill", "zero",
        "lerp", "rotate",  "foreach", "::eq",  "::ne",        "::lt",        "::gt",  "cos",        "::sin"}},
  };
  return table;
}

}  // namespace

std::string_view operation_class(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // autograd's own calls are named after the function that they enclose, and cost what is left beside it.
  if (plain.starts_with("autograd::engine")) return "other";
  for (const Row& row : rows())
    for (const auto part : row.parts)
      if (plain.find(part) != std::string::npos) return row.name;
  return "other";
}

std::vector<ClassCost> class_costs(std::span<const OperationCost> costs) {
  std::vector<ClassCost> classes;
  for (const auto& cost : costs) {
    const auto name = operation_class(cost.name);
    auto found = std::find_if(classes.begin(), classes.end(), [&](const ClassCost& c) { return c.name == name; });
    if (found == classes.end()) found = classes.insert(classes.end(), {.name = name});
    found->calls += cost.calls;
    found->own += cost.own;
  }
  std::sort(classes.begin(), classes.end(), [](const ClassCost& a, const ClassCost& b) {
    return std::tuple(-a.own, a.name) < std::tuple(-b.own, b.name);
  });
  return classes;
}

}  // namespace nmt
