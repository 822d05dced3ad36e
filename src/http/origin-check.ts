export type Write = {
  method: string;
  /** Header values; `undefined`: not sent. */
  secFetchSite: string | undefined;
  origin: string | undefined;
  /**
   * Whether the caller is identified by a cookie, or is about to receive one; false when a key is presented.
   */
  byCookie: boolean;
};

/**
 * Whether a browser sends this on behalf of another site's page (CSRF). Without either header the client is
 * not a browser, so there are no cookies to abuse.
 * @param ownOrigins as browsers write them: scheme, host, and the port unless it is the default
 */
export function isCrossOrigin(write: Write, ownOrigins: () => readonly string[]): boolean {
  const { method, secFetchSite, origin, byCookie } = write;
  if (!byCookie || method === "GET" || method === "HEAD" || method === "OPTIONS") return false;
  if (secFetchSite !== undefined && secFetchSite !== "same-origin" && secFetchSite !== "none") return true;
  return origin !== undefined && !ownOrigins().includes(origin);
}
