-- The load of compare.py, for wrk: wrk ... -s load.lua http://HOST:PORT/translate -- FILE
-- FILE has the body of one request a line (JSON). They are sent in turn, from the first one on, by however many clients.
-- Prints a line of JSON behind wrk's own text: wrk itself counts only statuses from 400 on as errors.
local requests, turn = {}, 0
not_200 = 0 -- global: done() reads it out of the thread

local threads = {}
function setup(thread)
  threads[#threads + 1] = thread
end

function init(arguments)
  local headers = {["Content-Type"] = "application/json"}
  for body in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function response(status)
  if status ~= 200 then not_200 = not_200 + 1 end
end

function done(summary, latency)
  local others, errors = 0, summary.errors
  for _, thread in ipairs(threads) do others = others + thread:get("not_200") end
  print(string.format(
    '\nLOAD {"answers": %d, "seconds": %.6f, "median_ms": %.3f, "p99_ms": %.3f, "not_200": %d, "socket_errors": %d, ' ..
    '"timeouts": %d}', summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, others, errors.connect + errors.read + errors.write, errors.timeout))
end
