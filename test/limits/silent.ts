import type { LimiterLog } from "../../src/limits/limiter.ts";

export const silent: LimiterLog = { info: () => {}, warn: () => {} };
