#include "base/code_points.h"

namespace nmt::scoring {

void append_code_points(std::string_view text, WhiteSpace white_space, std::vector<uint32_t>& out) {
  for (size_t i = 0; i < text.size();) {
    if (white_space == WhiteSpace::kDrop) {
      if (const size_t space = space_length(text, i)) {
        i += space;
        continue;
      }
    }
    out.push_back(next_code_point(text, i));
  }
}

}  // namespace nmt::scoring
