// A library to load before all others (LD_PRELOAD): the system gives the process so many threads beside its first, and
// then no more, as under a service manager with a limit of tasks.
//   NMT_TEST_THREADS=N
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> left = [] {
    const char* const threads = std::getenv("NMT_TEST_THREADS");
    return threads ? std::atoi(threads) : 0;
  }();
  return --left < 0 ? EAGAIN : create(thread, attributes, body, argument);
}
