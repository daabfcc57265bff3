#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/pictures/attention_picture.h"
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

/// When an event happened.
struct EventTime {
  double wall_time = 0;  ///< seconds since 1970
  int64_t step = 0;      ///< update
};

struct ScalarSummary {
  std::string tag;
  double value = 0;
};

/// Rows of cells in Markdown, all of one length.
using TextTable = std::vector<std::vector<std::string>>;

// The messages of TensorBoard's event.proto and summary.proto that the toolkit writes, encoded for frame_record().

/// The first event of a file.
std::string encode_file_version(double wall_time);
/// Marks a restart at this step: makes a TensorBoard that is running forget later steps.
std::string encode_session_start(const EventTime& time);
std::string encode_scalars(const EventTime& time, std::span<const ScalarSummary> scalars);
/// A table for the text plugin.
std::string encode_text_table(const EventTime& time, std::string_view tag, const TextTable& table);

std::string encode_text(const EventTime& time, std::string_view tag, std::string_view markdown);
std::string encode_image(const EventTime& time, std::string_view tag, const Image& image);

/// In TensorBoard's older form, which all versions read.
std::string encode_histogram(const EventTime& time, const TensorHistogram& histogram);

/// graph: an encoded GraphDef.
std::string encode_graph(const EventTime& time, std::string_view graph);

/// The step of an encoded event; nullopt if the bytes are none.
std::optional<int64_t> step_of_event(std::string_view event);

}  // namespace nmt
