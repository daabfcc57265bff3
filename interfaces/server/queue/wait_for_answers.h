#pragma once

#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "server/queue/request_queue.h"

namespace nmt {

/// Nobody waits for the answers any more.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("nobody waits any more") {}
};

/// RequestQueue::submit for a thread that waits for the answers. Throws RequestError as submit does, for what it calls
/// `done` with, and Cancelled.
std::vector<Translation> wait_for_answers(RequestQueue& queue, const std::string& client,
                                          std::vector<LineRequest> lines, std::stop_token cancelled,
                                          RequestQueue::OnLine on_line = {});

}  // namespace nmt
