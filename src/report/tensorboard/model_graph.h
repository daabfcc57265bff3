#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "report/records/training_observer.h"

namespace nmt {

/// The weights of a model as a graph for TensorBoard: an encoded GraphDef (TensorFlow's graph.proto). Each weight is a
/// node "encoder_0/feed_forward/inner/weight" (op Weight, attributes dtype and _output_shapes: [outputs, inputs] of a
/// matrix) and each module a node "encoder_0/feed_forward/inner/module" (op Module), which has edges from what it
/// consists of. Edges show what belongs to what, not how vectors flow. `weights`: names with points between modules,
/// each once.
std::string encode_model_graph(std::span<const VariableShape> weights);

/// The weights among the variables of a run's start: the first ones, which have start.parameters values together.
std::span<const VariableShape> weights_of(const TrainingStart& start);

}  // namespace nmt
