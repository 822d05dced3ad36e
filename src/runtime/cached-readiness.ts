const CACHE_MS = 1_000;

/**
 * Checks at most once a second while ready, because `/api/ready` is public and each check costs a query. A
 * negative result is not cached, so that traffic returns at once.
 */
export function cachedReadiness(
  check: () => Promise<boolean>,
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let latest: Promise<boolean> | null = null;
  let checkedAt = 0;
  return () => {
    if (latest !== null && now() - checkedAt < CACHE_MS) return latest;
    checkedAt = now();
    const pending = check();
    latest = pending;
    void pending.then((isReady) => {
      if (!isReady && latest === pending) latest = null;
    });
    return pending;
  };
}
