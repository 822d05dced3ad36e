import { registerHooks } from "node:module";

const LIMITER = "/better-auth/dist/api/rate-limiter/index.mjs";

// Its stores are not exported, nor what the one in memory keeps. The file is loaded as it is, with one line more, so
// that nothing but its limiter is measured: no request, no address, no answer.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(LIMITER)) return loaded;
    return { ...loaded, source: `${loaded.source}\nexport { getRateLimitStorage, memory };\n` };
  },
});

const { getRateLimitStorage, memory } = await import(`../node_modules${LIMITER}`);

export async function open({ limit, windowSeconds }) {
  const rule = { max: limit, window: windowSeconds };
  const storage = getRateLimitStorage({ options: {}, rateLimit: { storage: "memory" } }, rule);
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        if ((await storage.consume(keys[index], rule)).allowed) admitted += 1;
      }
      return admitted;
    },
    ask: async (key) => {
      const { allowed, retryAfter } = await storage.consume(key, rule);
      return { allowed, waitMs: retryAfter === null ? undefined : retryAfter * 1000 };
    },
    // Every decision looks at every key that there is: to make them by deciding would take minutes.
    fill: async (keys, count, from = 0, to = keys.length) => {
      const now = Date.now();
      for (const key of keys.slice(from, to))
        memory.set(key, { data: { key, count, lastRequest: now }, expiresAt: now + windowSeconds * 1000 });
    },
    close: async () => {},
  };
}
