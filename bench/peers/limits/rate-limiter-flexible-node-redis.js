import { RateLimiterRedis } from "rate-limiter-flexible";
import { createClient } from "redis";
import { overConsume } from "./over-consume.js";

export async function open({ limit, windowSeconds, redisPort }) {
  const storeClient = createClient({ url: `redis://127.0.0.1:${redisPort}`, disableOfflineQueue: true });
  await storeClient.connect();
  const limiter = new RateLimiterRedis({
    storeClient,
    useRedisPackage: true,
    points: limit,
    duration: windowSeconds,
  });
  return { ...overConsume(limiter), close: async () => storeClient.destroy() };
}
