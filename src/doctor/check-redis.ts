import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { openRedis } from "../limits/redis-connection.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { reasonOf } from "./probe.ts";

const RESPONSE_TIMEOUT_MS = 5_000;
const KEY = "tollgate:doctor";
/** A replica answers reads, and an account may not be allowed scripts: the limiter writes, in a script. */
const WRITE = "return redis.call('SET', KEYS[1], '', 'PX', 1000)";

export async function checkRedis({ redisUrls, isProduction, databaseUrl }: Config): Promise<Finding> {
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
  let reason = "no response";
  const redis = openRedis(redisUrls, (error) => {
    reason = reasonOf(error);
  });
  try {
    const asked = redis.connected.then(async () => {
      await redis.send(KEY, ["EVAL", WRITE, "1", KEY]);
      return String(await redis.send(KEY, ["INFO", "memory"]).catch(() => ""));
    });
    const late = sleep(RESPONSE_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw new Error(reason);
    });
    const policy = evictionPolicy(await Promise.race([asked, late]));
    if (policy === null) return good("redis", "responds");
    return warning(
      "redis",
      `responds, but drops keys when its memory is full (${policy}): limits could be exceeded`,
      "Set maxmemory-policy to noeviction.",
    );
  } catch (error) {
    const remedy =
      "Check REDIS_URL, and that Redis runs and accepts connections from here: sign-in and billing need it.";
    return broken("redis", `cannot be used: ${reasonOf(error)}`, remedy);
  } finally {
    redis.close();
  }
}

/** All keys of the limiter expire, so that every other policy evicts them. `null`: none is evicted. */
function evictionPolicy(info: string): string | null {
  const read = (field: string) => new RegExp(`^${field}:(.*)$`, "m").exec(info)?.[1]?.trim();
  const policy = read("maxmemory_policy") ?? "noeviction";
  return policy === "noeviction" || read("maxmemory") === "0" ? null : policy;
}
