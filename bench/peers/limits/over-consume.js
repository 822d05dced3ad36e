/** rate-limiter-flexible's way of being asked: it resolves when the request may pass, and rejects with the same when not. */
export function overConsume(limiter) {
  return {
    admit: async (keys, from, to) => {
      let admitted = 0;
      for (let index = from; index < to; index += 1) {
        try {
          await limiter.consume(keys[index]);
          admitted += 1;
        } catch (refused) {
          if (refused instanceof Error) throw refused;
        }
      }
      return admitted;
    },
    ask: async (key) => {
      const decisionOf = (allowed, { msBeforeNext }) => ({ allowed, waitMs: msBeforeNext });
      return limiter.consume(key).then(
        (passed) => decisionOf(true, passed),
        (refused) => {
          if (refused instanceof Error) throw refused;
          return decisionOf(false, refused);
        },
      );
    },
  };
}
