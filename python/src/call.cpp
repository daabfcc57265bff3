#include "call.h"

#include "text_caster.h"

namespace nb = nanobind;

namespace nmt::python {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

Call::Call()
    : stop_([this] {
        run_signal_handlers();
        return false;  // they stop the work by request_stop()
      }) {
  const auto threading = nb::module_::import_("threading");
  if (threading.attr("current_thread")().is(threading.attr("main_thread")())) thread_ = std::this_thread::get_id();
}

LogSink Call::log() {
  return [this](LogLevel level, const std::string& line) {
    call_back([level, &line] {
      const char* const name = level == LogLevel::kError ? "error" : level == LogLevel::kWarning ? "warning" : "info";
      nb::module_::import_("logging").attr("getLogger")("nmt").attr(name)("%s", line);
    });
  };
}

void Call::call_back(const std::function<void()>& callback) {
  const nb::gil_scoped_acquire held;
  // First, so that no handler raises in the callback: it gets the figures of an update that is done in any case.
  next_look_ = {};
  run_signal_handlers();
  if (!callback_raised_) callback_raised_ = !succeeds(callback);
}

void Call::run_signal_handlers() {
  if (std::this_thread::get_id() != thread_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + kBetweenLooks;
  const nb::gil_scoped_acquire held;
  succeeds([] {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  });
}

bool Call::succeeds(const std::function<void()>& python) {
  try {
    python();
    return true;
  } catch (...) {
    if (!raised_) raised_ = std::current_exception();
    stop_.request_stop();
    return false;
  }
}

}  // namespace nmt::python
