import { setTimeout as sleep } from "node:timers/promises";
import { CallCollector, type Entry } from "./call-collector.ts";
import { checkKey } from "./check-request.ts";
import { Deadlines } from "./deadlines.ts";
import { HeldRefusals } from "./held-refusals.ts";
import { scopeOf } from "./limit-key.ts";
import type { Limiter, LimiterLog, LimiterMetrics } from "./limiter.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import { NodeBreakers } from "./node-breakers.ts";
import { isRefusedWithoutSharedStore } from "./policies.ts";
import { LimiterUnavailable, type RateLimitResult } from "./rate-limit.ts";
import { loadRedisClient, openRedis, type RedisConnection } from "./redis-connection.ts";
import {
  commandFor,
  isUnknownScript,
  type KeyReply,
  readReply,
  redisKey,
  withScript,
} from "./redis-script.ts";

export type SharedOptions = {
  redisUrls: readonly string[];
  log: LimiterLog;
  metrics: LimiterMetrics;
  /** Milliseconds on a clock that never goes back. */
  now: () => number;
  maxMemoryKeys?: number;
  /** How long a decision waits for Redis, 75 ms by default. */
  answerWithinMs?: number;
  /** For tests: milliseconds to count by instead of Redis's clock. */
  redisNow?: () => number;
};

/** How long a decision waits for Redis, unless a test says otherwise. */
export const RESPONSE_TIMEOUT_MS = 75;
const CONNECT_TIMEOUT_MS = 1_000;

/** Connects; a Redis that does not answer delays a start by a second at most. */
export async function openSharedLimiter(options: SharedOptions): Promise<SharedLimiter> {
  await loadRedisClient();
  const limiter = new SharedLimiter(options);
  await limiter.start();
  return limiter;
}

/**
 * Counts in Redis, exactly, for all processes together, by Redis's clock. Calls made in one turn of the event
 * loop travel in one script call; in a cluster, one for each key. Without a reply within 75 ms, scopes that
 * guard passwords and money are refused, and all others are counted in this process alone until that node
 * answers again. A decision that came too late may have been counted in Redis all the same.
 */
class SharedLimiter implements Limiter {
  readonly #options: SharedOptions;
  readonly #redis: RedisConnection;
  readonly #local: MemoryLimiter;
  readonly #refusals: HeldRefusals;
  readonly #answerWithinMs: number;
  readonly #deadlines: Deadlines;
  readonly #calls: CallCollector;
  readonly #breakers: NodeBreakers;
  #lastError: unknown = null;

  constructor(options: SharedOptions) {
    this.#options = options;
    this.#local = new MemoryLimiter(options);
    this.#refusals = new HeldRefusals(options.now);
    this.#answerWithinMs = options.answerWithinMs ?? RESPONSE_TIMEOUT_MS;
    this.#deadlines = new Deadlines(this.#answerWithinMs);
    this.#redis = openRedis(options.redisUrls, (error) => {
      this.#lastError = error;
    });
    this.#breakers = new NodeBreakers({ ...options, nodes: () => this.#redis.nodes() });
    this.#calls = new CallCollector({
      canShare: this.#redis.canShare,
      send: (entries) => this.#send(entries),
    });
  }

  async start(): Promise<void> {
    const timeout = sleep(CONNECT_TIMEOUT_MS, false, { ref: false });
    const connected = await Promise.race([this.#redis.connected.then(() => true), timeout]);
    if (connected) this.#options.metrics.sharedStore(true);
    else this.#breakers.of("").open(this.#lastError ?? new Error("no connection yet"));
  }

  decide(
    key: string,
    limit: number,
    windowMs: number,
    cost: number,
  ): RateLimitResult | Promise<RateLimitResult> {
    const refusal = this.#refusals.find(key, limit, windowMs, cost);
    if (refusal) {
      this.#options.metrics.decidedWithoutStore(scopeOf(key), "remembered");
      return refusal;
    }
    checkKey(key);
    this.#breakers.forgetGoneNodes();
    const stored = redisKey(key, windowMs);
    const node = this.#redis.nodeOf(stored);
    const permit = this.#breakers.of(node).tryAcquire();
    if (permit === "no") return this.#withoutStore(key, limit, windowMs, cost);
    return new Promise((resolve, reject) => {
      this.#calls.add(key, node, { redisKey: stored, limit, windowMs, cost }, { resolve, reject, permit });
    });
  }

  async close(): Promise<void> {
    this.#redis.close();
    this.#deadlines.close();
  }

  /** One command. The entries are of one node: of a cluster, there is one entry. */
  #send(entries: readonly Entry[]): void {
    const [{ redisKey: firstKey, node }] = entries as [Entry];
    const askedAt = this.#options.now();
    const isInTime = this.#deadlines.start(() =>
      this.#fail(entries, new Error(`no answer within ${this.#answerWithinMs} ms`)),
    );
    const onReply = (reply: unknown) => {
      if (!isInTime()) return;
      this.#breakers.of(node).succeeded();
      this.#settle(entries, reply as number[], askedAt);
    };
    const onError = (error: unknown) => {
      if (isInTime()) this.#fail(entries, error);
    };
    const command = commandFor(entries, this.#options.redisNow);
    this.#redis.send(firstKey, command).then(onReply, (error: unknown) => {
      if (!isUnknownScript(error)) return onError(error);
      this.#redis.send(firstKey, withScript(command)).then(onReply, onError);
    });
  }

  #settle(entries: readonly Entry[], reply: readonly number[], askedAt: number): void {
    const answeredAt = this.#options.now();
    readReply(reply, entries, (entry, keyReply) => {
      if (keyReply === null) this.#decideLocally(entry);
      else this.#settleEntry(entry, keyReply, askedAt, answeredAt);
    });
  }

  /**
   * The first of its calls are admitted, the others refused: as if they had been asked one after the other.
   */
  #settleEntry(entry: Entry, keyReply: KeyReply, askedAt: number, answeredAt: number): void {
    const { key, limit, windowMs, cost, waiting } = entry;
    const { admitted, counted, oldestLeavesInUs, leaveInUs } = keyReply;
    if (admitted > 0) {
      this.#refusals.forget(key);
      const resetAt = Math.ceil(answeredAt + oldestLeavesInUs / 1000);
      for (let index = 0; index < admitted; index += 1) {
        const remaining = Math.max(0, limit - counted + (admitted - 1 - index) * cost);
        waiting[index]?.resolve({ allowed: true, remaining, resetAt });
      }
    }
    if (admitted === waiting.length) return;
    const resetAt = Math.ceil(answeredAt + (leaveInUs.at(-1) as number) / 1000);
    // Of a long wait only the end is known, which does not tell how many leave before it.
    if (leaveInUs.length === counted + cost - limit) {
      this.#refusals.remember(key, { windowMs, limit, counted, leaveInUs }, askedAt, answeredAt);
    }
    const remaining = Math.max(0, limit - counted);
    for (const request of waiting.slice(admitted)) request.resolve({ allowed: false, remaining, resetAt });
  }

  #fail(entries: readonly Entry[], error: unknown): void {
    let isProbe = false;
    for (const entry of entries) {
      const breaker = this.#breakers.of(entry.node);
      for (const { permit } of entry.waiting) {
        isProbe ||= permit === "probe";
        breaker.failed(permit, error);
      }
      this.#decideLocally(entry);
    }
    if (isProbe) this.#redis.renew();
  }

  #decideLocally({ key, limit, windowMs, cost, waiting }: Entry): void {
    for (const { resolve, reject } of waiting) {
      try {
        resolve(this.#withoutStore(key, limit, windowMs, cost));
      } catch (unavailable) {
        reject(unavailable);
      }
    }
  }

  /** @throws LimiterUnavailable */
  #withoutStore(key: string, limit: number, windowMs: number, cost: number): RateLimitResult {
    const scope = scopeOf(key);
    if (isRefusedWithoutSharedStore(scope)) {
      this.#options.metrics.decidedWithoutStore(scope, "unavailable");
      throw new LimiterUnavailable(`the shared counts of ${scope} cannot be reached`);
    }
    this.#options.metrics.decidedWithoutStore(scope, "fallback");
    return this.#local.decide(key, limit, windowMs, cost);
  }
}
