export type Write = {
  method: string;
  /** Header values; `undefined`: not sent. */
  secFetchSite: string | undefined;
  origin: string | undefined;
  /** Whether the caller is identified by a cookie, or is about to get one; false when a key is presented. */
  byCookie: boolean;
};

/**
 * Whether a browser sends this for a page of another site (CSRF). Without either header there is no browser, whose
 * cookies could be abused.
 * @param ownOrigins as browsers write them: scheme, host, and the port unless it is the scheme's own
 */
export function isCrossOrigin(write: Write, ownOrigins: () => readonly string[]): boolean {
  const { method, secFetchSite, origin, byCookie } = write;
  if (!byCookie || method === "GET" || method === "HEAD" || method === "OPTIONS") return false;
  if (secFetchSite !== undefined && secFetchSite !== "same-origin" && secFetchSite !== "none") return true;
  return origin !== undefined && !ownOrigins().includes(origin);
}
