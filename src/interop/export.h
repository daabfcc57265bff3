#pragma once

#include <filesystem>
#include <string>

#include "interop/ctranslate2/ctranslate2_file.h"
#include "interop/plain_model.h"

namespace nmt::interop {

/// Why a model cannot go to a format ("model.positions rotary"), or nothing where it can.
std::string ctranslate2_obstacle(const PlainModel& model);
std::string marian_obstacle(const PlainModel& model);
std::string torch_obstacle(const PlainModel& model);  ///< the names of torch.nn.Transformer

/// CTranslate2's native directory: model.bin, config.json, vocabularies, and the SentencePiece models for the caller.
/// The folder exists. Throws Error naming the obstacle.
void write_ctranslate2(const std::filesystem::path& directory, const PlainModel& model, CTranslate2Type type);

/// A MarianMT directory for Hugging Face transformers: ids are those of the model, the decoder starts from <s>.
/// Interleaved sinusoids become halves by an exact permutation of the features, a missing output projection of
/// attention the identity. Throws Error naming the obstacle, and CTranslate2 where that is the way.
void write_marian(const std::filesystem::path& directory, const PlainModel& model);

/// model.safetensors with the names of torch.nn.Transformer (encoder.layers.0.self_attn.in_proj_weight, ...), those of
/// the toolkit for embeddings, positions and output layer, and for all of a model that does not fit it; config.json and
/// the tokenizer's files.
void write_plain_safetensors(const std::filesystem::path& directory, const PlainModel& model);

/// A model of Marian as one of the toolkit: a MarianMT directory of Hugging Face transformers, or Marian's own form as
/// OPUS-MT publishes it (an .npz and its decoder.yml). Throws Error naming what cannot be represented, or is missing or
/// damaged.
PlainModel read_marian(const std::filesystem::path& directory);

/// What a model is, in lines of text: architecture, sizes, vocabulary, parameters by part, training, formats it fits.
std::string describe(const PlainModel& model);

}  // namespace nmt::interop
