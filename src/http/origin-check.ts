export type Write = {
  method: string;
  /** Header values; `undefined`: not sent. */
  secFetchSite: string | undefined;
  origin: string | undefined;
  /** Whether a cookie says who is calling, or is about to be given out: not so when a key is presented. */
  byCookie: boolean;
};

/**
 * Whether a browser sends this on behalf of somebody else's page (CSRF). Without either header there is no browser, and
 * nobody whose cookies could be abused.
 * @param ownOrigins as browsers write them: scheme, host, and the port unless it is the scheme's own
 */
export function isCrossOrigin(write: Write, ownOrigins: () => readonly string[]): boolean {
  const { method, secFetchSite, origin, byCookie } = write;
  if (!byCookie || method === "GET" || method === "HEAD" || method === "OPTIONS") return false;
  if (secFetchSite !== undefined && secFetchSite !== "same-origin" && secFetchSite !== "none") return true;
  return origin !== undefined && !ownOrigins().includes(origin);
}
