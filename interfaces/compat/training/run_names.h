#pragma once

#include <memory>

#include "config/config.h"
#include "report/records/training_observer.h"

namespace nmt::compat {

/// run.naming: files of another program in the run directory, beside the toolkit's own. nullptr for plain.
///
///   kyubyong2019  hparams                      the options under the names of his program, and all of the toolkit's
///                 specs                        "num_params: N", then NAME===(SHAPE) for each tensor
///                 iwslt2016_E19L2.64-29146     the model at the end of an epoch: epoch, its mean loss, update
///                 eval/iwslt2016_E19L2.64B28.06  its translations of the validation set and the line of his scorer; or
///                                              in run.evaldir
///   kyubyong2017  model_epoch_18_gs_30654      the model at the end of an epoch: epoch, update
///
/// Models are folders of their own (hard links, so they cost no disk while the checkpoint stands) and are kept when the
/// checkpoint goes: nmt-eval and nmt-translate take them as -m.
std::unique_ptr<TrainingObserver> make_run_names(const Config& config);

}  // namespace nmt::compat
