const KEEP_MS = 1_000;

/**
 * Asks at most once a second while the answer is yes, however many ask: `/api/ready` is open to everybody and costs a query.
 * A no is asked again as soon as it has been given, so that traffic returns at once.
 */
export function cachedReadiness(
  check: () => Promise<boolean>,
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let latest: Promise<boolean> | null = null;
  let askedAt = 0;
  return () => {
    if (latest !== null && now() - askedAt < KEEP_MS) return latest;
    askedAt = now();
    const asked = check();
    latest = asked;
    void asked.then((isReady) => {
      if (!isReady && latest === asked) latest = null;
    });
    return asked;
  };
}
