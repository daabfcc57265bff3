#pragma once

#include <memory>
#include <vector>

#include "nmt/scorer.h"
#include "nmt/translator.h"
#include "scoring/corpus/metric.h"
#include "text/terms.h"

namespace nmt::api {

/// What the objects of the interface hold, for the library itself.
struct Access {
  static std::shared_ptr<const nmt::Glossary> terms(const Glossary& glossary) {
    return std::static_pointer_cast<const nmt::Glossary>(glossary.terms_);
  }
  static std::shared_ptr<const nmt::scoring::Metric> metric(const Scorer& scorer);
};

}  // namespace nmt::api
