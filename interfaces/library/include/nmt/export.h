#pragma once

/// What the shared library exports. Everything else in it is hidden.
#if defined(__GNUC__)
#define NMT_EXPORT __attribute__((visibility("default")))
#else
#define NMT_EXPORT
#endif

#if defined(__GNUC__)
#define NMT_NOT_EXPORTED __attribute__((visibility("hidden")))
#else
#define NMT_NOT_EXPORTED
#endif

/// Users write nmt::Translator; its full name is nmt::api::Translator. So the toolkit's own classes, some of which have
/// the same names, can never be taken for those of this interface.
#if defined(NMT_INSIDE)
#define NMT_API_BEGIN \
  namespace nmt {     \
  namespace api {
#else
#define NMT_API_BEGIN \
  namespace nmt {     \
  inline namespace api {
#endif
#define NMT_API_END \
  }                 \
  }
