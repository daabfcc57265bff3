#pragma once

#include <filesystem>
#include <memory>

#include "base/process/log.h"
#include "config/config.h"
#include "report/records/training_observer.h"

namespace nmt {

/// run.naming: files of the original programs in the run directory, beside the toolkit's own. nullptr for plain.
///
///   kyubyong2019  hparams                      the options under the names of his program, and all of the toolkit's
///                 specs                        "num_params: N", then NAME===(SHAPE) for each tensor
///                 iwslt2016_E19L2.64-29146     the model at the end of an epoch: epoch, loss, update
///                 eval/iwslt2016_E19L2.64B28.06  its translations of the validation set and the line of his scorer; or
///                                              in run.evaldir
///   kyubyong2017  model_epoch_18_gs_30654      the model at the end of an epoch: epoch, update
///   trevett       model-EPOCH.pt               the model at the end of an epoch (from 0) that validated best so far
///                 and in the log three lines each epoch: time, loss and perplexity of training and validation
///   prenorm       model.ckpt-1000              the model of each checkpoint, while that stands: update
///                 and in the log a line each run.log_every updates, of that update alone: "1000: loss: 6.005,\t acc:
///                 0.178"
///
/// The loss in names of 2019 is that of the batch after the epoch (EpochReport::next_batch_loss); losses in the lines
/// of trevett are means over batches. Models are folders of their own (hard links, so they cost no disk while
/// the checkpoint stands) and are kept when the checkpoint goes: nmt-eval and nmt-translate take them as -m.
std::unique_ptr<TrainingObserver> make_original_names(const Config& config, const std::filesystem::path& run,
                                                      Logger& log);

}  // namespace nmt
