#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"
#include "translation/lines/request.h"

namespace nmt {

/// What stands in a line of input.
enum class InputFormat {
  kText,  ///< the source
  kTsv,   ///< SOURCE [<tab> PREFIX [<tab> MUST [<tab> MUST_NOT]]]; phrases of MUST and MUST_NOT are separated by |
  kJson,  ///< {"source": TEXT [, "prefix": TEXT][, "must": TEXT or [TEXT...]][, "must_not": TEXT or [TEXT...]]}
};

/// A line of valid UTF-8 as a request. White space at the ends of phrases is dropped, empty ones are left out; an empty
/// line asks for nothing in every format. Throws Error for a line that is not of the format (more columns, no JSON
/// object, an unknown key, a wrong type); the caller says which line.
Request parse_request(std::string_view line, InputFormat format);

/// What may stand in a line of output, in the order in which it does.
enum class OutputColumn {
  kLine,         ///< number of the input line, from 1
  kRank,         ///< of this translation among those of its line, from 1
  kScore,        ///< log-probability / length penalty, natural logarithm
  kTokens,       ///< pieces with </s>
  kSource,       ///< the input line
  kTranslation,  ///< the text
  kTokenScores,  ///< log-probabilities of the tokens, separated by spaces
  kAlignment,    ///< pharaoh_alignment()
};

enum class OutputFormat {
  kColumns,    ///< separated by tabs; a tab within a text becomes a space
  kJsonLines,  ///< an object a line of input
};

struct OutputOptions {
  OutputFormat format = OutputFormat::kColumns;
  /// What kColumns writes; kJsonLines always has line, source, translation, score and tokens, and the others
  /// where they are named here.
  std::vector<OutputColumn> columns = {OutputColumn::kTranslation};
  bool all_alternatives = false;  ///< the n best, not only the best one

  bool has(OutputColumn column) const;
};

/// A line and what it became.
struct OutputItem {
  int64_t number = 0;  ///< from 1
  std::string_view source;
  const Translation& translation;
};

/// A text in one line and column: tabs and line ends become spaces.
std::string in_one_column(std::string_view text);

/// The tokens that token_log_probabilities are of: those of each part, </s> where it is finished.
std::vector<std::string> token_pieces(const Alternative& alternative, const TextCodec& codec);

/// Output of a line of input, with line ends: one line, or of columns one for each of the n best translations. An empty
/// line has an empty translation with score 0.
///
/// JSON: {"line", "source", "translation_text", "score", "log_probability", "tokens", "finished"
/// [, "meets_constraints": false][, "token_scores": [...], "pieces": [...]][, "alignment"]}; of n best these fields for
/// the best and "alternatives", a list of all of them.
std::string format_item(const OutputItem& item, const TextCodec& codec, const OutputOptions& options);

/// A list of objects with the key translation_text, as the Hugging Face translation pipeline returns it: one object a
/// text; of n best so many a text, in lists of their own where there are several texts.
std::string format_json_list(std::span<const Translation> translations, const OutputOptions& options);

}  // namespace nmt
