#include "scoring/metrics/segment_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files/line_reader.h"
#include "base/files/strict_json.h"
#include "base/unicode.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

constexpr const char* kComet = "COMET";
constexpr std::string_view kSegment = "Segment ", kScore = "score: ", kSaved = "Predictions saved in";

std::optional<double> finite(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Gathers the systems of all files.
class ScoreFiles {
 public:
  void read(const std::string& file) {
    first_ = scores_.systems.size();
    LineReader reader(file, {.bytes = kMostBytes});
    std::string json;
    while (const auto read = reader.next()) {
      const auto line = strip_end(*read);
      place_ = fmt::format("{}:{}", file, reader.line_number());
      if (!json.empty() || (reader.line_number() == 1 && line.starts_with('{')))
        json.append(line).append("\n");
      else if (line.find('\t') != line.npos)
        read_comet_line(line);
      else if (!line.starts_with(kSaved))
        add(file, line);
    }
    if (!json.empty()) read_comet_json(file, json);
    if (first_ == scores_.systems.size()) throw Error(fmt::format("{}: holds no scores", file));
  }

  SegmentScores checked() {
    const auto& systems = scores_.systems;
    for (const auto& system : systems)
      if (system.hypotheses.size() != systems.front().hypotheses.size())
        throw Error(fmt::format("different numbers of segments: {} has {}, {} has {}; give the scores of one text",
                                systems.front().name, systems.front().hypotheses.size(), system.name,
                                system.hypotheses.size()));
    return std::move(scores_);
  }

 private:
  static constexpr size_t kMostBytes = size_t{256} << 20;

  /// The next segment of a system of this file.
  NamedSystem& system(const std::string& name) {
    auto& systems = scores_.systems;
    const auto found = std::ranges::find(systems, name, &NamedSystem::name);
    if (found == systems.end()) return systems.emplace_back(NamedSystem{name, {}});
    if (found - systems.begin() < static_cast<ptrdiff_t>(first_))
      throw Error(fmt::format("{}: the system {} was in a file before; name each once", place_, name));
    return *found;
  }

  void add(const std::string& name, std::string_view number) {
    if (!finite(number)) throw Error(fmt::format("{}: '{}' is no number; give one a line", place_, number));
    system(name).hypotheses.emplace_back(number);
  }

  void read_comet_line(std::string_view line) {
    scores_.metric = kComet;
    const size_t name_end = line.find('\t'), number = line.rfind('\t') + 1;
    const auto middle = line.substr(name_end + 1);
    if (middle.starts_with(kScore)) return;  // the mean, behind the segments
    if (!middle.starts_with(kSegment) || !line.substr(number).starts_with(kScore))
      throw Error(fmt::format("{}: neither a number nor a line of comet-score", place_));
    add(std::string(line.substr(0, name_end)), line.substr(number + kScore.size()));
  }

  void read_comet_json(const std::string& file, const std::string& text) {
    scores_.metric = kComet;
    const auto json = parse_json<nlohmann::ordered_json>(text, file, {.bytes = kMostBytes, .values = 1 << 24});
    for (const auto& [name, segments] : json.items()) {
      place_ = fmt::format("{}: {}", file, name);
      if (!segments.is_array()) throw Error(place_ + ": no list of segments");
      for (const auto& segment : segments) {
        const auto score = segment.is_object() ? segment.find(kComet) : segment.end();
        if (score == segment.end() || !score->is_number())
          throw Error(fmt::format("{}: segment {} has no number COMET", place_, system(name).hypotheses.size() + 1));
        add(name, repr(score->get<double>()));
      }
    }
  }

  SegmentScores scores_;
  size_t first_ = 0;   // system of the file that is read
  std::string place_;  // in it
};

class NumberReader final : public SegmentScorer {
 public:
  void set_references(std::span<const std::string_view>) override {}
  void statistics(std::string_view hypothesis, std::span<double> out) override {
    out[0] = finite(hypothesis).value();
    out[1] = 1;
  }
};

}  // namespace

SegmentScores read_segment_scores(std::span<const std::string> files) {
  ScoreFiles all;
  for (const auto& file : files) all.read(file);
  return all.checked();
}

std::unique_ptr<SegmentScorer> MeanScore::segment_scorer() const { return std::make_unique<NumberReader>(); }

Score MeanScore::score_of(std::span<const double> sums) const {
  Score score;
  score.name = name_;
  score.score = sums[0] / sums[1];
  return score;
}

ResampleScore MeanScore::score_of_resample(std::span<const float> sums) const {
  return {.value = sums[0] / sums[1], .is_float32 = true};
}

Signature MeanScore::signature(const SignatureFacts& facts) const {
  SignatureFacts own = facts;
  own.references = 0;
  return Signature(own, {});
}

}  // namespace nmt::scoring
