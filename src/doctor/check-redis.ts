import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { openRedis } from "../limits/redis-connection.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { reasonOf } from "./probe.ts";

const ANSWER_WITHIN_MS = 5_000;

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
    const pinged = redis.connected.then(() => redis.send("doctor", ["EXISTS", "doctor"]));
    const late = sleep(ANSWER_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(reason);
    });
    await Promise.race([pinged, late]);
    return good("redis", "responds");
  } catch (error) {
    const remedy =
      "Check REDIS_URL, and that Redis runs and accepts connections from here: sign-in and billing need it.";
    return broken("redis", `cannot be used: ${reasonOf(error)}`, remedy);
  } finally {
    redis.close();
  }
}
