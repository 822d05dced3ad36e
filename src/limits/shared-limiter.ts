import { Breaker } from "./breaker.ts";
import { checkKey } from "./check-request.ts";
import { Deadlines } from "./deadlines.ts";
import { scopeOf } from "./limit-key.ts";
import type { Limiter, LimiterLog, LimiterMetrics } from "./limiter.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import { isRefusedWithoutSharedStore } from "./policies.ts";
import { type Decision, LimiterUnavailable } from "./rate-limit.ts";
import { openRedis, type RedisConnection } from "./redis-connection.ts";
import { commandOf, type Request, redisKey, withScript } from "./redis-script.ts";
import { Refusals } from "./refusals.ts";

export type SharedOptions = {
  redisUrls: readonly string[];
  log: LimiterLog;
  metrics: LimiterMetrics;
  /** Milliseconds on a clock that only goes forwards. */
  now: () => number;
  maxMemoryKeys?: number;
  /** How long a decision waits for Redis, 75 ms by default. */
  answerWithinMs?: number;
  /** For tests: milliseconds to count by in place of Redis's clock. */
  redisNow?: () => number;
};

const ANSWER_WITHIN_MS = 75;
const CONNECTED_WITHIN_MS = 1_000;
/** After so many in a row without an answer, the connection is given up for a new one. */
const LATE_IN_A_ROW = 10;

/** Connects; a Redis that is not there yet is waited for by nobody for longer than a second. */
export async function openSharedLimiter(options: SharedOptions): Promise<SharedLimiter> {
  const limiter = new SharedLimiter(options);
  await limiter.start();
  return limiter;
}

/**
 * Counts in Redis, exactly, for all processes together: one script, one key, one round trip a decision, by Redis's clock.
 * Without an answer within 75 ms, scopes that guard passwords and money are refused, and all others are counted in this
 * process alone until Redis answers again. A decision that came too late may have been counted in Redis all the same.
 */
class SharedLimiter implements Limiter {
  readonly #options: SharedOptions;
  readonly #redis: RedisConnection;
  readonly #local: MemoryLimiter;
  readonly #refusals = new Refusals();
  readonly #answerWithinMs: number;
  readonly #deadlines: Deadlines;
  readonly #breaker: Breaker;
  #lateInARow = 0;
  #lastError: unknown = null;

  constructor(options: SharedOptions) {
    this.#options = options;
    this.#local = new MemoryLimiter(options);
    this.#answerWithinMs = options.answerWithinMs ?? ANSWER_WITHIN_MS;
    this.#deadlines = new Deadlines(this.#answerWithinMs);
    this.#breaker = new Breaker({ now: options.now, onChange: (up, error) => this.#say(up, error) });
    this.#redis = openRedis(options.redisUrls, (error) => {
      this.#lastError = error;
    });
  }

  async start(): Promise<void> {
    const timeout = Promise.withResolvers<false>();
    const timer = setTimeout(() => timeout.resolve(false), CONNECTED_WITHIN_MS);
    const connected = await Promise.race([this.#redis.connected.then(() => true), timeout.promise]);
    clearTimeout(timer);
    if (connected) this.#options.metrics.sharedStore(true);
    else this.#breaker.open(this.#lastError ?? new Error("no connection yet"));
  }

  decide(key: string, limit: number, windowMs: number, cost: number): Decision | Promise<Decision> {
    const known = this.#refusals.find(key, windowMs, limit, cost, this.#options.now);
    if (known) {
      this.#options.metrics.decidedWithoutStore(scopeOf(key), "remembered");
      return known;
    }
    checkKey(key);
    const request = { key, limit, windowMs, cost };
    const going = this.#breaker.tryAcquire();
    return going === "no" ? this.#withoutStore(request) : this.#ask(request, going);
  }

  async close(): Promise<void> {
    this.#redis.close();
    this.#deadlines.close();
  }

  #ask(request: Request, going: "yes" | "probe"): Promise<Decision> {
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    const fail = (error: unknown) => {
      this.#breaker.failed(going, error);
      try {
        resolve(this.#withoutStore(request));
      } catch (unavailable) {
        reject(unavailable);
      }
    };
    const askedAt = this.#options.now();
    const key = redisKey(request.key, request.windowMs);
    const arrived = this.#deadlines.start(() => {
      this.#lateInARow += 1;
      if (this.#lateInARow % LATE_IN_A_ROW === 0) this.#redis.renew();
      fail(new Error(`no answer within ${this.#answerWithinMs} ms`));
    });
    const onAnswer = (answer: unknown) => {
      if (!arrived()) return;
      this.#lateInARow = 0;
      this.#breaker.succeeded();
      resolve(this.#read(request, answer as number[], askedAt));
    };
    const onError = (error: unknown) => {
      if (arrived()) fail(error);
    };
    const command = commandOf(key, request, this.#options.redisNow);
    this.#redis
      .ask(key, command)
      .then(onAnswer, (error: unknown) => {
        if (!isUnknownScript(error)) return onError(error);
        return this.#redis.ask(key, withScript(command)).then(onAnswer, onError);
      })
      .catch(reject);
    return promise;
  }

  #read({ key, limit, windowMs, cost }: Request, answer: number[], askedAt: number): Decision {
    const signed = answer[0] as number;
    const answeredAt = this.#options.now();
    const resetAt = Math.ceil(answeredAt + (answer[answer.length - 1] as number) / 1000);
    if (signed > 0) {
      this.#refusals.forget(key);
      return { allowed: true, remaining: Math.max(0, limit - signed), resetAt };
    }
    const counted = -signed;
    const leftUs = answer.slice(1);
    // Of a long wait only the end is told, which is not enough to know how it goes on.
    if (leftUs.length === counted + cost - limit) {
      this.#refusals.remember(key, { windowMs, limit, counted, leftUs }, askedAt, answeredAt);
    }
    return { allowed: false, remaining: Math.max(0, limit - counted), resetAt };
  }

  /** @throws LimiterUnavailable */
  #withoutStore({ key, limit, windowMs, cost }: Request): Decision {
    const scope = scopeOf(key);
    if (isRefusedWithoutSharedStore(scope)) {
      this.#options.metrics.decidedWithoutStore(scope, "unavailable");
      throw new LimiterUnavailable(`the shared counts of ${scope} cannot be reached`);
    }
    this.#options.metrics.decidedWithoutStore(scope, "fallback");
    return this.#local.decide(key, limit, windowMs, cost);
  }

  #say(up: boolean, error: unknown): void {
    this.#options.metrics.sharedStore(up);
    if (up) {
      this.#options.log.info({}, "the limiter's Redis answers again: counts are shared");
      return;
    }
    this.#options.log.warn(
      { err: error },
      "the limiter's Redis does not answer: sign-in and billing are refused, all else is counted in this process alone",
    );
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}
