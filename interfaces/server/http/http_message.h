#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nmt {

/// What one client, and all of them together, may ask of an HttpServer. Each limit holds before memory is taken.
struct HttpLimits {
  int64_t header_bytes = 16 << 10;                    ///< request line and headers, else 431
  int64_t body_bytes = 1 << 20;                       ///< of one request, else 413
  std::map<std::string, int64_t> body_bytes_of = {};  ///< paths with another limit
  int64_t all_body_bytes = 256 << 20;                 ///< of all requests that are read or answered, else 503
  int64_t connections = 4096;                         ///< at the same time; idle ones are closed for others, else 503
  std::chrono::milliseconds idle{60'000};             ///< without a request, then the connection is closed
  std::chrono::milliseconds request{15'000};          ///< from the first byte of a request to its last, else 408
  std::chrono::milliseconds answer{30'000};           ///< from the last byte of a request to its answer, else 504
  std::chrono::milliseconds sending{
      60'000};  ///< of an answer to a client that reads slowly; then the connection is closed
  std::chrono::milliseconds lingering{2'000};  ///< how long what a refused client still sends is read and dropped
  std::chrono::milliseconds stopping{4'000};   ///< of stop(): requests that have come in are answered for so long
  void validate() const;                       ///< throws Error
};

/// Bytes that many requests may hold together: those of one client half of them, unless it is one request. Any thread
/// may take and give back.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : most_(bytes), left_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// What one request holds; gives it back in the end.
  class Share {
   public:
    explicit Share(MemoryBudget& budget, std::string client = {}) : budget_(budget), client_(std::move(client)) {}
    ~Share() {
      if (bytes_ > 0) budget_.give_back(client_, bytes_);
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    /// False, and nothing is taken, where so many bytes are not left.
    bool take(int64_t bytes) {
      if (bytes == 0) return true;
      if (!budget_.take(client_, bytes_, bytes)) return false;
      bytes_ += bytes;
      return true;
    }

   private:
    MemoryBudget& budget_;
    const std::string client_;
    int64_t bytes_ = 0;
  };

  int64_t left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  bool take(const std::string& client, int64_t of_share, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto known = of_clients_.find(client);
    const int64_t own = known == of_clients_.end() ? 0 : known->second;
    if (bytes > left_ || (own > of_share && own + bytes > most_ / 2)) return false;
    of_clients_[client] = own + bytes;
    left_ -= bytes;
    return true;
  }
  void give_back(const std::string& client, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    left_ += bytes;
    const auto own = of_clients_.find(client);
    if ((own->second -= bytes) == 0) of_clients_.erase(own);
  }

  const int64_t most_;
  mutable std::mutex mutex_;  // of what follows
  int64_t left_;
  std::map<std::string, int64_t> of_clients_;
};

/// Why a client gets no translation: the HTTP status, and what() one line for its {"error": ...}.
class RequestError : public std::runtime_error {
 public:
  /// retry_after: seconds after which it may be tried again; 0 says nothing about that.
  RequestError(int status, const std::string& message, int64_t retry_after = 0)
      : std::runtime_error(message), status_(status), retry_after_(retry_after) {}
  int status() const { return status_; }
  int64_t retry_after() const { return retry_after_; }

 private:
  int status_;
  int64_t retry_after_;
};

/// A body that is sent while it is made: any thread adds to it, the connection takes from it.
class HttpStream {
 public:
  /// What is added behind the end is dropped.
  void add(std::string bytes) {
    if (!bytes.empty()) change([&] { pending_ += bytes; });
  }
  void end() {
    change([&] { ended_ = true; });
  }

  /// For the connection: what was added since the last time, and whether that was all.
  std::pair<std::string, bool> take() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(pending_, {}), ended_};
  }
  /// For the connection: `wake` is called, by any thread, whenever there is something to take; now, too, where there
  /// is.
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (wake_ && (ended_ || !pending_.empty())) wake_();
  }

 private:
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    change();
    if (wake_) wake_();
  }

  std::mutex mutex_;
  std::string pending_;
  bool ended_ = false;
  std::function<void()> wake_;
};

/// Names and values in the order in which they came or are sent.
using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = {};  ///< "GET"
  std::string path = {};    ///< as it was sent, without what follows a '?'
  std::string query = {};   ///< behind the '?'
  HttpFields fields = {};
  std::string body = {};
  std::string client = {};         ///< its IP address
  std::stop_token cancelled = {};  ///< stops when nobody waits for the answer any more
  /// Share of the memory for the body: who keeps what the body held beyond the request keeps this, too.
  std::shared_ptr<const MemoryBudget::Share> share = {};

  /// The first field of this name, whatever its case; empty where there is none.
  std::string_view field(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = {};
  std::string body = {};
  HttpFields fields = {};                   ///< further ones
  std::shared_ptr<HttpStream> stream = {};  ///< in place of the body: it is sent while it is made

  /// JSON: {"error": message}; with 503 and 429 the header Retry-After, at least a second.
  static HttpResponse error(int status, std::string_view message, int64_t retry_after = 0);
};

/// The small letter of an ASCII letter, any other byte as it is.
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// True where both are equal but for the case of ASCII letters.
bool same_ignoring_case(std::string_view a, std::string_view b);

/// Where the answer to one request goes: any thread may give it, at any time; what comes after the first one is
/// dropped, as is an answer that nobody waits for any more. A request whose last copy goes away without an answer gets
/// status 500.
class HttpReply {
 public:
  using Send = std::function<void(HttpResponse)>;

  explicit HttpReply(Send send) : state_(std::make_shared<State>(std::move(send))) {}

  void operator()(HttpResponse response) const {
    if (!state_->sent.exchange(true)) state_->send(std::move(response));
  }

 private:
  struct State {
    explicit State(Send s) : send(std::move(s)) {}
    ~State() {
      if (!sent) send(HttpResponse::error(500, "the request was dropped; the server's log says why"));
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const Send send;
    std::atomic<bool> sent = false;
  };
  std::shared_ptr<State> state_;
};

/// What answers requests. It is called on the thread that serves all connections: work goes to other threads.
using HttpHandler = std::function<void(HttpRequest request, HttpReply reply)>;

}  // namespace nmt
