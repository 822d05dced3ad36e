import { createHash } from "node:crypto";

/**
 * One decision, whole. The key holds a head, the time at which it was last written whole, and after it the times of the
 * admitted requests, oldest first: microseconds by Redis's clock, 8 bytes each. Most requests append theirs; an eighth
 * of a window after the head, what has left is cut off and the expiry renewed, so nothing is kept for longer than
 * 9/8 of its window. A short log is read whole, a long one searched where it is.
 *
 * `ARGV`: limit, window in microseconds, cost unless it is 1, and for tests alone a clock in place of Redis's.
 * Answers `{ counted, µs until the oldest leaves }` when admitted, and `{ -counted, µs until each leaves that must }`
 * when refused, of more than 32 only the last: it is what the request has to wait for.
 */
const DECIDE = `
local key, limit, window, cost = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3] or 1)
local now = ARGV[4]
if now then
  now = tonumber(now)
else
  now = redis.call('TIME')
  now = now[1] * 1000000 + now[2]
end
local keepMs = math.ceil(window * 9 / 8000)
local unpack = struct.unpack

local log, length
if limit <= 256 then
  log = redis.call('GET', key) or ''
  length = #log / 8 - 1
else
  length = redis.call('STRLEN', key) / 8 - 1
end

local function at(index)
  if log then return (unpack('<d', log, index * 8 + 1)) end
  return (unpack('<d', redis.call('GETRANGE', key, index * 8, index * 8 + 7)))
end

local renewed, oldest, counted, first = nil, now, 0, 1
if length > 0 then
  if at(length) > now then
    -- The clock was set back. What it calls the future has been admitted already: now, at the latest.
    log = redis.call('GET', key)
    local times = {}
    for index = 0, length do times[index + 1] = struct.pack('<d', math.min(at(index), now)) end
    log = table.concat(times)
    redis.call('SET', key, log, 'PX', keepMs)
  end
  renewed, oldest = unpack('<dd', log or redis.call('GETRANGE', key, 0, 15))
  local left = now - window
  if oldest <= left then
    local last = length + 1
    while first < last do
      local middle = math.floor((first + last) / 2)
      if at(middle) <= left then first = middle + 1 else last = middle end
    end
    oldest = first <= length and at(first) or now
  end
  counted = length - first + 1
end

if counted + cost > limit then
  local answer = { -counted }
  local over = counted + cost - limit
  for index = over > 32 and over or 1, over do
    answer[#answer + 1] = at(first + index - 1) + window - now
  end
  return answer
end

local added = struct.pack('<d', now)
local head = added
if cost > 1 then added = string.rep(added, cost) end
if renewed and (now - renewed) * 8 < window then
  redis.call('APPEND', key, added)
else
  local kept = ''
  if counted > 0 then
    kept = log and string.sub(log, first * 8 + 1) or redis.call('GETRANGE', key, first * 8, -1)
  end
  redis.call('SET', key, head .. kept .. added, 'PX', keepMs)
end
return { counted + cost, oldest + window - now }
`;

const DECIDE_SHA1 = createHash("sha1").update(DECIDE).digest("hex");

/** One request to the limiter. */
export type Request = { key: string; limit: number; windowMs: number; cost: number };

/** @param redisNow for tests: milliseconds to count by in place of Redis's clock */
export function commandOf(
  redisKey: string,
  { limit, windowMs, cost }: Request,
  redisNow: (() => number) | undefined,
): string[] {
  const command = ["EVALSHA", DECIDE_SHA1, "1", redisKey, String(limit), String(windowMs * 1000)];
  if (cost > 1 || redisNow) command.push(String(cost));
  if (redisNow) command.push(String(redisNow() * 1000));
  return command;
}

/** The same, for a Redis that does not have the script: it was started anew, or its scripts were flushed. */
export function withScript(command: readonly string[]): string[] {
  return ["EVAL", DECIDE, ...command.slice(2)];
}

/**
 * Without a brace, so that Redis Cluster spreads users by the whole key and not by what they put between braces. Logs
 * are kept per window, so that none is shortened for a shorter one.
 */
export function redisKey(key: string, windowMs: number): string {
  const isPlain = !(key.includes("{") || key.includes("%"));
  const plain = isPlain ? key : key.replaceAll("%", "%25").replaceAll("{", "%7B");
  return `tollgate:limit:${windowMs}:${plain}`;
}
