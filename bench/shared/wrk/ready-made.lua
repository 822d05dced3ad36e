-- Sends the ready-made requests of a file, all of one length, one after the other.
-- Arguments: the file, the length of a request, and "once" (stop at the end) or "again" (start over).

handed = 0
ran_out = false

local threads = {}
local file, length, again
local looked = false

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  file = assert(io.open(args[1], "rb"))
  length = tonumber(args[2])
  again = args[3] == "again"
end

function request()
  local text = file:read(length)
  if not looked then
    -- wrk looks at one request beforehand, and does not send it.
    looked = true
    file:seek("set", 0)
    return text
  end
  if text == nil and again then
    file:seek("set", 0)
    text = file:read(length)
  end
  if text == nil then
    ran_out = true
    wrk.thread:stop()
    return ""
  end
  handed = handed + 1
  return text
end

function done(summary, latency)
  local sent, empty = 0, false
  for _, thread in ipairs(threads) do
    sent = sent + thread:get("handed")
    empty = empty or thread:get("ran_out")
  end
  local errors = summary.errors
  io.write(string.format(
    '\nJSON {"handed":%d,"ranOut":%s,"answered":%d,"refused":%d,"broken":%d,"micros":%d,"p50":%d,"p99":%d,"max":%d}\n',
    sent, tostring(empty), summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration, latency:percentile(50), latency:percentile(99), latency.max))
end
