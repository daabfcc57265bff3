// Requests to nmt-translate --serve: the same ones however the network cuts their bytes. A refusal may come earlier or
// later and for another reason: what is wrong in a head can be seen before the head is whole, but need not be.
#include <algorithm>
#include <cstring>

#include "fuzz_target.h"
#include "server/http/request_parser.h"

namespace {

using namespace nmt;
using State = RequestParser::State;

const HttpLimits kLimits{.header_bytes = 512, .body_bytes = 256, .body_bytes_of = {{"/", 16}}};
constexpr int64_t kBudget = 1000;

/// The requests that a server would find in the bytes, in pieces of that size.
std::vector<std::string> parse(std::string_view input, size_t piece) {
  std::vector<std::string> found;
  MemoryBudget budget(kBudget);
  {
    RequestParser parser(kLimits, budget);
    State state = parser.state();
    while (true) {
      if (state == State::kBody && parser.request().path.empty()) std::abort();
      if (state == State::kRefused) {
        const int status = parser.refusal()->status;
        fuzz::require(status >= 400 && status < 600 && !parser.refusal()->body.empty(), "a refusal says why");
        return found;
      }
      if (state == State::kWhole) {
        const HttpRequest& request = parser.request();
        fuzz::require(request.body.size() <= 256, "a body has a limit");
        std::string text =
            request.method + ' ' + request.path + '?' + request.query + (parser.keep_alive() ? " +" : " -");
        for (const auto& [name, value] : request.fields) text += '\n' + name + ": " + value;
        found.push_back(text + "\n\n" + request.body);
        if (!parser.keep_alive()) return found;
        state = parser.next();
        continue;
      }
      if (state == State::kBody) {
        const State before = state;
        state = parser.read_body();
        if (state != before) continue;
      }
      if (input.empty()) return found;
      const auto place = parser.place();
      const size_t count = std::min({piece, place.size(), input.size()});
      fuzz::require(count > 0, "there is room, or a refusal");
      std::memcpy(place.data(), input.data(), count);
      input.remove_prefix(count);
      state = parser.advance(count);
    }
  }
}

}  // namespace

NMT_FUZZ_TARGET(http_request, input) {
  const auto whole = parse(input, SIZE_MAX);
  fuzz::require(parse(input, 1) == whole, "byte by byte as at once");
  fuzz::require(parse(input, 7) == whole, "in pieces as at once");
}
