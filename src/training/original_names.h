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
///                 eval/iwslt2016_E19L2.64B28.06  its translations of the validation set and the line of his scorer
///   kyubyong2017  model_epoch_18_gs_30654      the model at the end of an epoch: epoch, update
///   trevett       model-EPOCH                  the model at the end of an epoch (from 0) that validated best so far
///                 and in the log three lines each epoch: time, loss and perplexity of training and validation
///
/// Losses are means over the epoch's updates. Models are folders of their own (hard links, so they cost no disk while
/// the checkpoint stands) and are kept when the checkpoint goes: nmt-eval and nmt-translate take them as -m.
std::unique_ptr<TrainingObserver> make_original_names(const Config& config, const std::filesystem::path& run,
                                                      Logger& log);

}  // namespace nmt
