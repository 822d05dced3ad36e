/**
 * Whether the server can serve a page. For pages that reload by themselves: when reloading fails, the router leaves
 * the page.
 */
export async function isReachable(): Promise<boolean> {
  return fetch("/api/ready").then(
    (response) => response.ok,
    () => false,
  );
}
