#pragma once

#include "search/ready_model.h"

namespace nmt {

/// Loads a model directory and makes it ready to search. A Transformer that is alone on the CPU does without LibTorch
/// where the program is not linked with it: what else there is to load, and what such a model cannot do itself, comes
/// from libnmt_torch.so, which is loaded then. Throws Error as nmt_load_with_torch(), and where that library is not
/// there. is_alone: no other model votes with it.
ReadyModel load_ready_model(const ModelLoading& wanted, bool is_alone);

/// Whether words can be aligned: LibTorch looks into a model for them. Where it is not there, markup goes by its place
/// in the text.
bool can_align_words();

}  // namespace nmt
