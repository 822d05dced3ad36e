import { once } from "node:events";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { overConsume } from "./over-consume.js";

export async function open({ limit, windowSeconds, redisPort }) {
  const storeClient = new Redis({ port: redisPort, host: "127.0.0.1", enableOfflineQueue: false });
  await once(storeClient, "ready");
  const limiter = new RateLimiterRedis({ storeClient, points: limit, duration: windowSeconds });
  return { ...overConsume(limiter), close: async () => storeClient.disconnect() };
}
