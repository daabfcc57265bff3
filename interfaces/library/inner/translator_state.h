#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "library/inner/settings.h"
#include "nmt/translator.h"
#include "text/codec/codec.h"
#include "translation/lines/request.h"
#include "translation/model_set.h"
#include "translation/translator.h"

namespace nmt::api {

/// A result of the inner translator as this interface has it. line: what was translated, UTF-8.
Alternative to_alternative(nmt::Alternative found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options);
Translation to_translation(nmt::Translation found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options);

/// The models of a translator, and inner translators made of them. All functions may be called by any thread; they
/// throw as the toolkit does.
class NMT_NOT_EXPORTED Translator::State {
 public:
  explicit State(const TranslatorOptions& options);

  /// The inner translator for these options. It lives as long as it is used, and borrows the models.
  std::shared_ptr<const nmt::Translator> translator_for(const TranslateOptions& options) const;
  /// So many inner translators are kept, the last used: calls may alternate between options.
  static constexpr std::size_t kKept = 4;

  const nmt::ModelSet& models() const { return models_; }
  bool on_cpu() const;
  std::mutex& of_device() const { return of_device_; }  ///< on a GPU one call works at a time

 private:
  /// What an inner translator is made of.
  struct Key {
    std::int64_t n_best = 0;
    bool attention = false;
    DecodingSettings settings = {};
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key;
    std::shared_ptr<const nmt::Translator> translator;
  };

  static nmt::ModelSetOptions model_set(const TranslatorOptions& options);
  static bool wants_attention(const TranslateOptions& options);
  nmt::TranslatorOptions inner_options(const DecodingSettings& settings, const TranslateOptions& options) const;
  std::vector<nmt::TranslatorModel> members(const DecodingSettings& settings) const;
  nmt::Config configuration(const DecodingSettings& settings) const;

  const TranslatorOptions options_;
  const nmt::ModelSet models_;
  std::shared_ptr<const nmt::Lexicon> lexicon_;  // for calls that want a shortlist; null: no_lexicon_ says why
  std::exception_ptr no_lexicon_;
  mutable std::mutex of_device_;
  mutable std::mutex mutex_;        // of what follows
  mutable std::vector<Kept> kept_;  // the last used first
};

}  // namespace nmt::api
