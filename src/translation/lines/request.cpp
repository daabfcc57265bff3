#include "translation/lines/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace nmt {

Request with_common(Request own, const Request& common) {
  Request request = common;
  request.source = std::move(own.source);
  if (!own.prefix.empty()) request.prefix = std::move(own.prefix);
  request.must.insert(request.must.begin(), own.must.begin(), own.must.end());
  request.must_not.insert(request.must_not.begin(), own.must_not.begin(), own.must_not.end());
  for (const auto& phrase : request.must)
    if (std::ranges::find(request.must_not, phrase) != request.must_not.end())
      throw Error(fmt::format("'{}' must stand in the translation and must not; leave out one of them", phrase));
  return request;
}

}  // namespace nmt
