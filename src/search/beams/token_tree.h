#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nmt {

/// The tokens of all hypotheses of a beam. Hypotheses share their beginnings: each is its last node, and extending one
/// costs one node.
class TokenTree {
 public:
  static constexpr int32_t kRoot = -1;  ///< the hypothesis without tokens

  int32_t add(int32_t parent, int32_t token, float log_probability) {
    nodes_.push_back({parent, token, log_probability});
    return static_cast<int32_t>(nodes_.size() - 1);
  }

  /// Of the hypothesis that ends with `node`, from its first token on.
  std::vector<int32_t> tokens(int32_t node) const { return path(node, &Node::token); }
  std::vector<float> log_probabilities(int32_t node) const { return path(node, &Node::log_probability); }

 private:
  struct Node {
    int32_t parent, token;
    float log_probability;
  };

  template <typename T>
  std::vector<T> path(int32_t node, T Node::*part) const {
    std::vector<T> values;
    for (; node != kRoot; node = nodes_[node].parent) values.push_back(nodes_[node].*part);
    std::reverse(values.begin(), values.end());
    return values;
  }

  std::vector<Node> nodes_;
};

}  // namespace nmt
