import { RateLimiterMemory } from "rate-limiter-flexible";

const [points, duration] = process.env.RATE_LIMIT_API.split("/").map(Number);

export const limiter = new RateLimiterMemory({ keyPrefix: "api", points, duration });
