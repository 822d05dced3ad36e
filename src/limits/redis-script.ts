import { createHash } from "node:crypto";

/**
 * Decides for every key of `KEYS`, one after the other, by one reading of Redis's clock. A key holds a head,
 * the time at which it was last written whole, and after it the times of the admitted requests, oldest first:
 * microseconds by Redis's clock, 8 bytes each. Most requests append theirs; an eighth of a window after the
 * head, expired times are cut off and the expiry is renewed, so nothing is kept for longer than 9/8 of its
 * window. A short log is read whole, a long one searched where it is.
 *
 * `ARGV`: a clock in microseconds for tests, or an empty string; then for each policy its limit, its window
 * in microseconds and how many keys follow, and for each of those keys how many requests of cost 1 there are,
 * or minus the cost of a single request.
 *
 * Replies with integers, for each key: how many were admitted, how many are counted now, µs until the oldest
 * leaves, and for those refused the number and µs until each request leaves that must (of more than 32, only
 * the last). A key that another program has written gives -1, and harms no other key.
 */
const DECIDE = `
local call, pack, unpack, floor = redis.call, struct.pack, struct.unpack, math.floor
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local reply, size = {}, 0

local function decide(key, limit, window, cost, times)
  local keepMs = math.ceil(window * 9 / 8000)
  local log, length
  if limit <= 256 then
    log = call('GET', key) or ''
    length = #log / 8 - 1
  else
    length = call('STRLEN', key) / 8 - 1
  end

  local function at(index)
    if log then return (unpack('<d', log, index * 8 + 1)) end
    return (unpack('<d', call('GETRANGE', key, index * 8, index * 8 + 7)))
  end

  local renewed, oldest, counted, first = nil, now, 0, 1
  if length > 0 then
    if at(length) > now then
      -- The clock was set back: times in its future count as now.
      log = call('GET', key)
      local all = {}
      for index = 0, length do all[index + 1] = pack('<d', math.min(at(index), now)) end
      log = table.concat(all)
      call('SET', key, log, 'PX', keepMs)
    end
    renewed, oldest = unpack('<dd', log or call('GETRANGE', key, 0, 15))
    local left = now - window
    if oldest <= left then
      local last = length + 1
      while first < last do
        local middle = floor((first + last) / 2)
        if at(middle) <= left then first = middle + 1 else last = middle end
      end
      oldest = first <= length and at(first) or now
    end
    counted = length - first + 1
  end

  local admitted = floor((limit - counted) / cost)
  if admitted < 0 then admitted = 0 elseif admitted > times then admitted = times end
  local added = admitted * cost
  local total = counted + added
  reply[size + 1], reply[size + 2], reply[size + 3] = admitted, total, oldest + window - now
  size = size + 4
  local waits = size
  if admitted < times then
    local over = total + cost - limit
    for index = over > 32 and over or 1, over do
      size = size + 1
      reply[size] = index > counted and window or at(first + index - 1) + window - now
    end
  end
  reply[waits] = size - waits
  if admitted == 0 then return end

  local head = pack('<d', now)
  local times = added > 1 and string.rep(head, added) or head
  if renewed and (now - renewed) * 8 < window then
    call('APPEND', key, times)
  else
    local kept = ''
    if counted > 0 then
      kept = log and string.sub(log, first * 8 + 1) or call('GETRANGE', key, first * 8, -1)
    end
    call('SET', key, head .. kept .. times, 'PX', keepMs)
  end
end

local argument, index = 2, 0
while index < #KEYS do
  local limit, window = tonumber(ARGV[argument]), tonumber(ARGV[argument + 1])
  local last = index + tonumber(ARGV[argument + 2])
  argument = argument + 3
  while index < last do
    index = index + 1
    local count = tonumber(ARGV[argument])
    argument = argument + 1
    local ok, failure = pcall(decide, KEYS[index], limit, window, count < 0 and -count or 1, count < 0 and 1 or count)
    if not ok then
      if not string.find(type(failure) == 'table' and failure.err or failure, 'WRONGTYPE', 1, true) then error(failure) end
      -- Its first reading has failed: nothing of it is in the reply.
      size = size + 1
      reply[size] = -1
    end
  end
end
return reply
`;

const DECIDE_SHA1 = createHash("sha1").update(DECIDE).digest("hex");

/**
 * Decisions for one key under one policy: `times` requests that cost `cost` each; only a cost of 1 comes
 * repeatedly.
 */
export type Batched = { redisKey: string; limit: number; windowMs: number; cost: number; times: number };

export type KeyReply = {
  admitted: number;
  /** How many requests are counted after these. */
  counted: number;
  oldestLeavesInUs: number;
  /**
   * Of the refused ones: when each request leaves that must, soonest first; for a long wait the last alone.
   */
  leaveInUs: number[];
};

/** @param redisNow for tests: milliseconds to count by instead of Redis's clock */
export function commandFor(batch: readonly Batched[], redisNow: (() => number) | undefined): string[] {
  const keys: string[] = [];
  const parameters: string[] = [redisNow ? String(redisNow() * 1000) : ""];
  for (const group of byPolicy(batch)) {
    const [{ limit, windowMs }] = group as [Batched];
    parameters.push(String(limit), String(windowMs * 1000), String(group.length));
    for (const { redisKey, cost, times } of group) {
      keys.push(redisKey);
      parameters.push(String(cost === 1 ? times : -cost));
    }
  }
  return ["EVALSHA", DECIDE_SHA1, String(keys.length), ...keys, ...parameters];
}

/** The same command for a Redis that lost the script: it was restarted, or its scripts were flushed. */
export function withScript(command: readonly string[]): string[] {
  return ["EVAL", DECIDE, ...command.slice(2)];
}

/** Whether Redis has lost the script: see `withScript`. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

/** Hands the reply for each key to its part of the batch; `null` where the key holds something else. */
export function readReply<B extends Batched>(
  reply: readonly number[],
  batch: readonly B[],
  resolve: (request: B, reply: KeyReply | null) => void,
): void {
  let at = 0;
  for (const request of byPolicy(batch).flat()) {
    const admitted = reply[at] as number;
    if (admitted < 0) {
      at += 1;
      resolve(request, null);
      continue;
    }
    const end = at + 4 + (reply[at + 3] as number);
    resolve(request, {
      admitted,
      counted: reply[at + 1] as number,
      oldestLeavesInUs: reply[at + 2] as number,
      leaveInUs: end === at + 4 ? NONE : reply.slice(at + 4, end),
    });
    at = end;
  }
}

/**
 * Without a brace, so that Redis Cluster spreads users by the whole key and not by what they put between
 * braces. Logs are kept per window, so that none is shortened for a shorter one.
 */
export function redisKey(key: string, windowMs: number): string {
  const isPlain = !(key.includes("{") || key.includes("%"));
  const plain = isPlain ? key : key.replaceAll("%", "%25").replaceAll("{", "%7B");
  return `tollgate:limit:${windowMs}:${plain}`;
}

const NONE: number[] = [];

/** Searches a list: a batch nearly always has one policy, or a few. */
function byPolicy<B extends Batched>(batch: readonly B[]): B[][] {
  const groups: B[][] = [];
  for (const request of batch) {
    const group = groups.find(
      ([first]) => first?.limit === request.limit && first.windowMs === request.windowMs,
    );
    if (group) group.push(request);
    else groups.push([request]);
  }
  return groups;
}
