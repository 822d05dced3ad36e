import { MemoryStore } from "express-rate-limit";

/** Its store, and the comparison that its middleware makes with the store's answer. */
export async function open({ limit, windowSeconds }) {
  const store = new MemoryStore();
  store.init({ windowMs: windowSeconds * 1000 });
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        const { totalHits } = await store.increment(keys[index]);
        if (totalHits <= limit) admitted += 1;
      }
      return admitted;
    },
    ask: async (key) => {
      const { totalHits, resetTime } = await store.increment(key);
      return { allowed: totalHits <= limit, resetAt: resetTime.getTime() };
    },
    close: async () => store.shutdown(),
  };
}
