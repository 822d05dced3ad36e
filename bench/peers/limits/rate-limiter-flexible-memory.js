import { RateLimiterMemory } from "rate-limiter-flexible";
import { overConsume } from "./over-consume.js";

export async function open({ limit, windowSeconds }) {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  return { ...overConsume(limiter), close: async () => {} };
}
