#include "data/reading_options.h"

namespace nmt {

ReadingOptions reading_options(const DataConfig& data) {
  return {.source_language = data.source_language,
          .target_language = data.target_language,
          .utf8 = data.repair_utf8 ? Utf8Policy::kRepair : Utf8Policy::kStop,
          .tsv_columns = data.tsv_columns};
}

}  // namespace nmt
