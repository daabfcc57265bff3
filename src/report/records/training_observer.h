#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/aligned_translation.h"

namespace nmt {

/// A tensor that a checkpoint holds.
struct VariableShape {
  std::string name = "";
  std::vector<int64_t> sizes = {};
};

/// The end of an epoch: means over its updates per target token.
struct EpochReport {
  int64_t epoch = 1, update = 0;
  double loss = 0;        ///< nats, smoothed
  double perplexity = 0;  ///< exp of the unsmoothed loss
};

/// What a run is, told once at its start.
struct TrainingStart {
  std::string name = "";  ///< of the run directory
  int64_t parameters = 0;
  int64_t update = 0;             ///< 0, or where a run resumes
  int64_t max_updates = 0;        ///< 0 = not limited by updates
  int64_t updates_per_epoch = 0;  ///< of the first epoch; later ones may differ a little
  int64_t num_epochs = 0;         ///< 0 = not limited by epochs
  std::string device = "", precision = "";
  int64_t threads = 0;
  std::vector<VariableShape> variables = {};            ///< weights, then the optimizer's state
  std::optional<EpochReport> epoch_end = std::nullopt;  ///< of the epoch that ended with `update`, where one did
};

/// One update.
struct UpdateReport {
  int64_t epoch = 1, update = 0;  ///< from 1
  double loss = 0;                ///< nats per target token, smoothed: the objective
  double perplexity = 0;          ///< exp of the unsmoothed loss
  double accuracy = 0;            ///< share of target tokens with the highest probability
  double learning_rate = 0;
  double gradient_norm = 0;  ///< before clipping
  int64_t source_tokens = 0, target_tokens = 0;
  bool skipped = false;  ///< loss or gradient was not finite: the weights stayed as they were
};

/// Joint 2-norms over a group of weights and over their gradients.
struct GroupNorm {
  std::string group = "";  ///< such as encoder_0
  double weights = 0, gradients = 0;
};

/// How the values of a tensor are spread.
struct TensorHistogram {
  std::string name = "";  ///< such as gradients/encoder_0.feed_forward.inner.weight
  double min = 0, max = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits = {};  ///< upper ends of the buckets, ascending
  std::vector<double> counts = {};  ///< a bucket
};

/// Training over one logging interval (run.log_every updates).
struct TrainingInterval {
  int64_t epoch = 1;      ///< from 1
  int64_t update = 0;     ///< the last of the interval
  double loss = 0;        ///< nats per target token, smoothed: the objective
  double perplexity = 0;  ///< exp of the unsmoothed loss
  double accuracy = 0;    ///< share of target tokens with the highest probability
  double learning_rate = 0;
  double gradient_norm = 0;             ///< of the last update
  double source_tokens_per_second = 0;  ///< without padding
  double target_tokens_per_second = 0;
  double real_token_share = 0;                   ///< of the batches' positions, in [0, 1]
  int64_t target_tokens = 0;                     ///< since the start of the run
  int64_t skipped_updates = 0;                   ///< since the start of the run
  double seconds_left = -1;                      ///< estimate; negative = not known
  std::vector<GroupNorm> norms = {};             ///< after the last update, gradients after clipping
  std::vector<TensorHistogram> histograms = {};  ///< the same, where run.histograms asks for them
};

/// A translated validation sentence.
struct TranslationSample {
  std::string source = "", reference = "", hypothesis = "";
};

struct ValidationReport {
  int64_t epoch = 1, update = 0;
  double loss = 0, perplexity = 0, accuracy = 0;
  int64_t too_long = 0;  ///< pairs that the model has no places for: they are not in the loss
  bool has_bleu = false, has_chrf = false;
  double bleu = 0, chrf = 0;
  std::string bleu_line = "", chrf_line = "";  ///< as sacreBLEU prints them, with signature
  bool is_best = false;
  double seconds = 0;  ///< that validation took
  std::vector<TranslationSample> samples = {};
  std::vector<std::string> sources = {}, references = {}, hypotheses = {};  ///< all that was translated, as text
  int64_t drawn = 0;               ///< the sentence that was drawn for this validation, from 0; 0 where none was
  std::string source_pieces = "";  ///< of that sentence, with spaces between
  /// The layers of some sentences and their references; none for a sentence that is too long to be drawn.
  std::vector<std::vector<AttentionGrid>> attention = {};
  std::vector<int64_t> attention_lines = {};  ///< which sentences these are, from 1; empty: 1, 2, 3, ...
  std::string set = "";                       ///< name of the validation set, where there are several
  /// Figures of the other sets of data.eval, without texts and pictures.
  std::vector<ValidationReport> others = {};
  std::string weights = "";  ///< empty: those of this update; else what they are, such as "average of updates 100, 200"
};

/// Which sentence report.attention[i] is of, from 1.
inline int64_t attention_line(const ValidationReport& report, size_t i) {
  return i < report.attention_lines.size() ? report.attention_lines[i] : static_cast<int64_t>(i) + 1;
}

/// Watches a run; fed with plain numbers and strings. Every method does nothing by default.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  /// Whether it needs a checkpoint at the end of each epoch, too.
  virtual bool needs_epoch_checkpoints() const { return false; }
  virtual void on_start(const TrainingStart&) {}
  /// After every update: cheap, for a progress bar. On a GPU that is during the next one.
  virtual void on_update(const UpdateReport&) {}
  virtual void on_interval(const TrainingInterval&) {}
  /// The same over run.tensorboard_every updates, where that is set; without norms, histograms and what concerns the
  /// whole run.
  virtual void on_curve_point(const TrainingInterval&) {}
  virtual void on_epoch(const EpochReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_checkpoint(int64_t /*update*/) {}
  virtual void on_end(const std::string& /*reason*/) {}
};

/// Hands everything to several observers, in order.
class TrainingObservers final : public TrainingObserver {
 public:
  void add(std::unique_ptr<TrainingObserver> observer) { observers_.push_back(std::move(observer)); }
  void on_start(const TrainingStart& what) override { tell(&TrainingObserver::on_start, what); }
  void on_update(const UpdateReport& what) override { tell(&TrainingObserver::on_update, what); }
  void on_interval(const TrainingInterval& what) override { tell(&TrainingObserver::on_interval, what); }
  void on_curve_point(const TrainingInterval& what) override { tell(&TrainingObserver::on_curve_point, what); }
  void on_epoch(const EpochReport& what) override { tell(&TrainingObserver::on_epoch, what); }
  void on_validation(const ValidationReport& what) override { tell(&TrainingObserver::on_validation, what); }
  void on_checkpoint(int64_t what) override { tell(&TrainingObserver::on_checkpoint, what); }
  void on_end(const std::string& what) override { tell(&TrainingObserver::on_end, what); }

 private:
  template <typename Event, typename What>
  void tell(Event event, const What& what) {
    for (auto& observer : observers_) (*observer.*event)(what);
  }
  std::vector<std::unique_ptr<TrainingObserver>> observers_;
};

}  // namespace nmt
