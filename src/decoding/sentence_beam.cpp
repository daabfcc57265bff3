#include "decoding/sentence_beam.h"

#include <algorithm>
#include <utility>

#include "text/tokenizer.h"

namespace nmt {

SentenceBeam::SentenceBeam(const SearchOptions& options, int64_t limit) : options_(options), limit_(limit), live_(1) {}

void SentenceBeam::advance(const BestTokens& best, int64_t first_row, NextRows& next) {
  const auto extensions = ranked_extensions(best, first_row);
  std::vector<Live> continued;
  std::vector<int64_t> parents, tokens;
  for (size_t rank = 0; rank < extensions.size(); ++rank) {
    const Extension& extension = extensions[rank];
    if (extension.token == SpecialIds::kEnd) {
      if (std::cmp_less(rank, options_.beam_size)) finish(extension);
    } else if (std::ssize(continued) < options_.beam_size) {
      continued.push_back({live_[extension.parent].ids, extension.log_probability});
      continued.back().ids.push_back(extension.token);
      parents.push_back(first_row + extension.parent);
      tokens.push_back(extension.token);
    }
  }
  if (continued.empty()) {  // every hypothesis could only end; if not even that, what was live is the result
    if (!finished_.empty()) live_.clear();
    done_ = true;
    return;
  }
  ++length_;
  live_ = std::move(continued);
  done_ = length_ >= limit_ || cannot_improve() || will_hardly_improve();
  if (done_) return;
  next.parents.insert(next.parents.end(), parents.begin(), parents.end());
  next.tokens.insert(next.tokens.end(), tokens.begin(), tokens.end());
}

std::vector<SentenceBeam::Extension> SentenceBeam::ranked_extensions(const BestTokens& best, int64_t first_row) const {
  std::vector<Extension> extensions;
  for (int64_t parent = 0; parent < rows(); ++parent) {
    for (int64_t i = 0; i < best.width; ++i) {
      const int64_t at = (first_row + parent) * best.width + i;
      if (best.ids[at] == BestTokens::kNone) break;
      extensions.push_back({parent, best.ids[at], live_[parent].log_probability + best.log_probabilities[at]});
    }
  }
  // Beyond the best 2 * beam_size there is nothing to take: each live hypothesis ends in one way only.
  const auto wanted = std::min(std::ssize(extensions), 2 * options_.beam_size);
  std::partial_sort(extensions.begin(), extensions.begin() + wanted, extensions.end(),
                    [](const Extension& a, const Extension& b) {
                      if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
                      return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
                    });
  extensions.resize(wanted);
  return extensions;
}

void SentenceBeam::finish(const Extension& extension) {
  auto hypothesis = to_hypothesis(live_[extension.parent].ids, extension.log_probability, true);
  const auto place = std::upper_bound(finished_.begin(), finished_.end(), hypothesis,
                                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished_.insert(place, std::move(hypothesis));
}

bool SentenceBeam::cannot_improve() const {
  if (std::ssize(finished_) < options_.n_best) return false;
  return live_.front().log_probability / options_.penalty(limit_) <= finished_[options_.n_best - 1].score;
}

bool SentenceBeam::will_hardly_improve() const {
  if (std::ssize(finished_) < options_.beam_size) return false;
  return live_.front().log_probability / options_.penalty(length_) <= finished_.front().score;
}

Hypothesis SentenceBeam::to_hypothesis(std::vector<int32_t> ids, double log_probability, bool finished) const {
  const int64_t tokens = std::ssize(ids) + (finished ? 1 : 0);
  const double score = tokens > 0 ? log_probability / options_.penalty(tokens) : 0;
  return {.ids = std::move(ids), .log_probability = log_probability, .score = score, .finished = finished};
}

std::vector<Hypothesis> SentenceBeam::take_results() {
  auto results = std::move(finished_);
  for (auto& hypothesis : live_) {  // all of one length: in the order of their scores
    if (std::ssize(results) >= options_.n_best) break;
    results.push_back(to_hypothesis(std::move(hypothesis.ids), hypothesis.log_probability, false));
  }
  if (std::ssize(results) > options_.n_best) results.resize(options_.n_best);
  return results;
}

}  // namespace nmt
