#pragma once

#include <array>
#include <string_view>

namespace nmt {

/// One of the toolkit's programs: `nmt NAME` runs nmt-NAME.
struct ProgramSummary {
  std::string_view name;     ///< "train"
  std::string_view summary;  ///< what it does, in a few words
};

/// In the order in which one needs them. The lists of `nmt help`, the manual pages and the completions are made of it.
inline constexpr std::array kPrograms{
    ProgramSummary{"init", "look at a parallel text and write a configuration that fits it"},
    ProgramSummary{"prepro", "clean parallel text, learn the vocabulary, write the prepared data"},
    ProgramSummary{"train", "train a model, or resume a training"},
    ProgramSummary{"eval", "translate test sets and print BLEU and chrF"},
    ProgramSummary{"translate", "translate lines and documents, or serve translations over HTTP"},
    ProgramSummary{"score", "score translations as sacreBLEU does"},
    ProgramSummary{"distill", "make a small, fast model that has a large one's translations"},
    ProgramSummary{"export", "take models to other toolkits, and bring them from there"},
};

}  // namespace nmt
