const ANY = "http://localhost";

/** The redirect target after signing in: always a path of this site. */
export function sameSitePath(path: string | null | undefined, fallback: string): string {
  // Browsers treat a backslash as a slash, and drop tabs and line breaks.
  if (!path?.startsWith("/") || /^\/[/\\]|[\t\r\n\\]/.test(path)) return fallback;
  const url = URL.parse(path, ANY);
  if (url?.origin !== ANY || url.pathname.startsWith("//") || !isDecodable(url.pathname)) return fallback;
  url.searchParams.delete("_rsc");
  return `${url.pathname}${url.search}`;
}

/** No page is found by another: a mail program has cut it within an escape. */
function isDecodable(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

export function signInPath(from: string | null): string {
  return withNext("/sign-in", sameSitePath(from, "/dashboard"));
}

/** For what a page sends after its session has ended: the sign-in page says that it was not done. */
export function signInAgainPath(from: string | null): string {
  const path = signInPath(from);
  return `${path}${path.includes("?") ? "&" : "?"}after=session-end`;
}

/** @param next where to go with the new account; `null`: to the onboarding */
export function signUpPath(next: string | null): string {
  return withNext("/sign-up", sameSitePath(next, "/dashboard"));
}

/** The dashboard is the default destination. */
function withNext(path: string, next: string): string {
  return next === "/dashboard" ? path : `${path}?${new URLSearchParams({ next })}`;
}
