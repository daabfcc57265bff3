#pragma once

#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "documents/document.h"
#include "documents/process/document_process.h"
#include "translate_arguments.h"
#include "translation/aligned_texts.h"
#include "translation/model_set.h"
#include "translation/ready_models.h"

namespace nmt {

/// Throws Error for a format that is not known.
inline DocumentFormat input_document_format(const TranslateArguments& arguments) {
  if (arguments.document_format != "auto") {
    if (const auto known = document_format_of("input." + arguments.document_format)) return *known;
    std::vector<std::string> names = {"auto"};
    for (const auto& format : document_formats()) names.emplace_back(format.extension.substr(1));
    const auto meant = nearest_name(arguments.document_format, names);
    throw Error(fmt::format("--format-in {}: no such format{}; use one of {}", arguments.document_format,
                            meant ? "; did you mean " + *meant + "?" : "", fmt::join(names, ", ")));
  }
  if (arguments.input == "-") throw Error("--format-in auto: standard input has no name to tell by; name the format");
  return require_document_format(arguments.input).format;
}

inline int translate_one_document(const TranslateArguments& arguments, const ModelSet& models,
                                  TranslatorOptions options, Logger& log) {
  constexpr size_t kLargest = DocumentLimits().unpacked_bytes;
  const std::string bytes = read_file(arguments.input == "-" ? "/dev/stdin" : arguments.input, kLargest);
  const Translator translator(models.members(), std::move(options));
  const Request common = arguments.stream_options().common;
  Output output(arguments.output);  // before the work: what cannot be written ends here
  std::unique_ptr<ProgressBar> bar;
  int64_t texts_of_document = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto translate = [&](std::span<const std::string> texts) {
    texts_of_document = std::ssize(texts);
    if (!arguments.quiet && arguments.output != "-" && standard_error_is_terminal())
      bar = std::make_unique<ProgressBar>("translate", texts_of_document, "texts");
    return translate_aligned(translator, texts, common,
                             {.progress =
                                  [&](int64_t done) {
                                    if (bar) bar->update(done);
                                  },
                              .stopped = [] { return stop_signal() != 0; }});
  };
  try {
    const auto check = [] {
      if (stop_signal() != 0) throw TranslationStopped();
    };
    std::vector<std::string> warnings;
    const std::string translated =
        translate_document_apart(input_document_format(arguments), bytes, translate, {}, check, &warnings);
    bar.reset();
    for (const auto& warning : warnings) log.warn("{}: {}", arguments.input, warning);
    if (!can_align_words())
      log.warn("{}: tags stand at their place in the text: to align words takes libnmt_torch.so", arguments.input);
    output.write(translated);
    output.commit();
  } catch (const TranslationStopped&) {
    return stop_exit_code();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", arguments.input == "-" ? "standard input" : arguments.input, error.what()));
  }
  if (!arguments.quiet)
    log.info("{} texts of a document in {:.2f} s", with_commas(texts_of_document),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return kDone;
}

}  // namespace nmt
