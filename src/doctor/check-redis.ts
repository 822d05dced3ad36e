import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { errorText } from "../domain/error-text.ts";
import { loadRedisClient, openRedis, type RedisConnection } from "../limits/redis-connection.ts";
import { commandFor, isUnknownScript, redisKey, withScript } from "../limits/redis-script.ts";
import { RESPONSE_TIMEOUT_MS as DECISION_TIMEOUT_MS } from "../limits/shared-limiter.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { redisRemedy } from "./redis-remedy.ts";
import { tryChatCommands } from "./try-chat-commands.ts";

const RESPONSE_TIMEOUT_MS = 5_000;
const RETRY_AFTER_MS = 100;
const WINDOW_MS = 1_000;
/** Enough for a key on each of hundreds of nodes. */
const MAX_KEYS = 10_000;
/** Of a key whose counts are read whole, and of one in which they are searched: other commands. */
const LIMITS = [30, 300];
/** The fastest counts: this process may be busy meanwhile. */
const TIMED_DECISIONS = 5;

export async function checkRedis({ redisUrls, isProduction, databaseUrl, chat }: Config): Promise<Finding> {
  if (redisUrls === null) {
    const detail = "not set: limits are counted in memory";
    return isProduction && databaseUrl !== null
      ? warning(
          "redis",
          detail,
          "Set REDIS_URL when you run more than one process: otherwise each counts on its own.",
        )
      : skipped("redis", detail);
  }
  await loadRedisClient();
  let reason: unknown = new Error("no response");
  const redis = openRedis(redisUrls, (error) => {
    reason = error;
  });
  try {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    const askNode = (key: string) => askOnceConnected(() => askForPolicy(redis, key), signal);
    const policiesOfNodes = redis.connected.then(() => Promise.all(keyOfEachNode(redis).map(askNode)));
    const late = sleep(RESPONSE_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw reason;
    });
    const policies = await Promise.race([policiesOfNodes, late]);
    const slowestMs = Math.max(
      ...(await Promise.race([Promise.all(keyOfEachNode(redis).map((key) => fastestMs(redis, key))), late])),
    );
    if (slowestMs > DECISION_TIMEOUT_MS) {
      return broken(
        "redis",
        `takes ${Math.round(slowestMs)} ms for a decision from here, and servers wait for ${DECISION_TIMEOUT_MS} ms: then they refuse sign-in and billing`,
        "Run Redis near the servers, in their region; if it is there, find what keeps it busy, e.g. with SLOWLOG GET.",
      );
    }
    const policy = policies.find((each) => each !== null) ?? null;
    if (policy !== null) {
      const consequence = chat === null ? "" : ", and answers of the assistant lost";
      return warning(
        "redis",
        `responds, but drops keys when its memory is full (${policy}): limits could be exceeded${consequence}`,
        "Set maxmemory-policy to noeviction.",
      );
    }
    const refused = chat === null ? null : await errorOf(Promise.race([tryChatCommands(redis), late]));
    if (refused === null) return good("redis", "responds");
    return warning(
      "redis",
      `responds, but keeps no answers of the assistant, so that none can be resumed: ${errorText(refused)}`,
      "Let the account of REDIS_URL read and write the keys tollgate:*, with +@read and +@write.",
    );
  } catch (error) {
    return broken("redis", `cannot be used: ${errorText(error)}`, redisRemedy(error));
  } finally {
    redis.close();
  }
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

function keyOfEachNode(redis: RedisConnection): string[] {
  const keys = new Map<string, string>();
  for (let n = 0; n < MAX_KEYS && keys.size < redis.nodes().length; n += 1) {
    const key = redisKey(`doctor:${n}`, WINDOW_MS);
    const node = redis.nodeOf(key);
    if (!keys.has(node)) keys.set(node, key);
  }
  return [...keys.values()];
}

/** In a cluster a node is connected to when it is first asked, and refuses until then. */
async function askOnceConnected<Answer>(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!/^not connected to /.test(errorText(error))) throw error;
      await sleep(RETRY_AFTER_MS, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

/** @throws where the limiter could not count */
async function askForPolicy(redis: RedisConnection, key: string): Promise<string | null> {
  await decideAsLimiter(redis, key);
  return evictionPolicy(String(await redis.send(key, ["INFO", "memory"]).catch(() => "")));
}

/** A replica answers reads, and an account may lack a single command of the script: then every decision fails. */
async function decideAsLimiter(redis: RedisConnection, key: string): Promise<void> {
  const command = decisionOn(key);
  await redis.send(key, command).catch((error: unknown) => {
    if (!isUnknownScript(error)) throw error;
  });
  // Needed whenever Redis has lost the script.
  await redis.send(key, withScript(command));
}

function decisionOn(key: string): string[] {
  const batch = LIMITS.map((limit) => ({ redisKey: key, limit, windowMs: WINDOW_MS, cost: 1, times: 1 }));
  return commandFor(batch, undefined);
}

/** How long the limiter would wait for this node, at best. */
async function fastestMs(redis: RedisConnection, key: string): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TIMED_DECISIONS && fastest > DECISION_TIMEOUT_MS; n += 1) {
    const askedAt = performance.now();
    await redis.send(key, decisionOn(key));
    fastest = Math.min(fastest, performance.now() - askedAt);
  }
  return fastest;
}

/** All keys of the limiter expire, so that every other policy evicts them. `null`: none is evicted. */
function evictionPolicy(info: string): string | null {
  const read = (field: string) => new RegExp(`^${field}:(.*)$`, "m").exec(info)?.[1]?.trim();
  const policy = read("maxmemory_policy") ?? "noeviction";
  return policy === "noeviction" || read("maxmemory") === "0" ? null : policy;
}
