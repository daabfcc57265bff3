#include <limits>

#include "library/c/c_objects.h"

extern "C" {

const char* nmt_record_kind(const nmt_record* record) { return record ? record->kind.c_str() : ""; }

int nmt_record_has(const nmt_record* record, const char* name) {
  if (!record || !name) return 0;
  const std::string_view key = name;
  return record->numbers.contains(key) || record->texts.contains(key) || record->lists.contains(key) ? 1 : 0;
}

double nmt_record_number(const nmt_record* record, const char* name) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!record || !name) return kNone;
  const auto found = record->numbers.find(std::string_view(name));
  return found == record->numbers.end() ? kNone : found->second;
}

const char* nmt_record_text(const nmt_record* record, const char* name) {
  if (!record || !name) return nullptr;
  const auto found = record->texts.find(std::string_view(name));
  return found == record->texts.end() ? nullptr : found->second.c_str();
}

const double* nmt_record_numbers(const nmt_record* record, const char* name, size_t* count) {
  if (count) *count = 0;
  if (!record || !name) return nullptr;
  const auto found = record->lists.find(std::string_view(name));
  if (found == record->lists.end()) return nullptr;
  if (count) *count = found->second.size();
  return found->second.data();
}

void nmt_record_free(nmt_record* record) { delete record; }

}  // extern "C"
