#pragma once

#include <string>

#include "config/kinds.h"
#include "models/model_directory.h"
#include "nn/device/device.h"

namespace nmt {

/// What a search computes its products in. Activations are float32 on the CPU in every precision, and a sentence's
/// translation does not depend on its batch; on a GPU fp32, bf16 and fp16 are the types of activations too.
enum class Precision { kFp32, kBf16, kFp16, kInt8 };

/// Auto is bf16 where the GPU has instructions for it or the CPU quick ones, else fp16 on a GPU that has those, else
/// fp32: never slower than fp32, and a function of the processor's features alone. Throws Error for int8 on a GPU and
/// fp16 on a CPU.
Precision resolve_decoding_precision(DecodingPrecision wanted, const DeviceCapabilities& device);
Precision resolve_decoding_precision(DecodingPrecision wanted, torch::Device device);
/// The same for a loaded model: a quantized directory has one precision, which auto is. Throws Error for another one.
Precision resolve_decoding_precision(DecodingPrecision wanted, torch::Device device, const LoadedModel& loaded);
std::string precision_name(Precision precision);

/// Makes a loaded model ready to search: on the CPU all weights are packed, so the first sentence is as fast as the
/// others, and the memory of the original ones is given back; the file of a quantized directory is let go; on a GPU
/// steps of a search are recorded where the model allows it (StaticSteps), with weights of the type that products are
/// computed in. Throws Error where the file of a quantized directory was changed since load_model() began.
void prepare_decoding(LoadedModel& loaded, Precision precision);

}  // namespace nmt
