/**
 * Whether the server can serve a page. For pages that reload by themselves: when reloading fails, the router leaves
 * the page. A request that hangs must not hold up the next try.
 */
export async function isReachable(): Promise<boolean> {
  return fetch("/api/ready", { signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  );
}
