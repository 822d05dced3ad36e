import { Ratelimit } from "@upstash/ratelimit";
import { openUpstashRedis } from "./upstash-redis.js";

export async function open({ limit, windowSeconds, redisPort }) {
  const redis = await openUpstashRedis(redisPort);
  const limiter = new Ratelimit({ redis, limiter: Ratelimit.slidingWindow(limit, `${windowSeconds} s`) });
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        if (told(await limiter.limit(keys[index])).success) admitted += 1;
      }
      return admitted;
    },
    ask: async (key) => {
      const { success, reset } = told(await limiter.limit(key));
      return { allowed: success, resetAt: reset };
    },
    close: async () => redis.destroy(),
  };
}

/** Without an answer for 5 s it lets everything pass. */
function told(response) {
  if (response.reason === "timeout") throw new Error("Redis did not answer");
  return response;
}
