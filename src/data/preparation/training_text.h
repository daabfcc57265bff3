#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "text/corpus/cleaning.h"
#include "text/corpus/content_rules.h"
#include "text/pairs/corpus_reader.h"

namespace nmt {

// What the data section says of its texts.

/// A text as the options normalise it: what the rules judge and models read.
std::string normalised_text(std::string_view text, const DataConfig& data);

/// The rules of training text.
CleaningOptions cleaning_options(const DataConfig& data);

/// The validation and test sets, to find training pairs among them. on_read: called behind each set.
HeldOutText read_held_out(const DataConfig& data, const ContentRules& content,
                          const std::function<void(const CorpusReader& reader)>& on_read);

}  // namespace nmt
