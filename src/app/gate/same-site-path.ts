const ANY = "http://localhost";

/** Where to go after signing in: a path of this site, whatever was asked for. */
export function sameSitePath(wanted: string | null | undefined, otherwise: string): string {
  // Browsers read a backslash like a slash, and leave tabs and line ends out.
  if (!wanted?.startsWith("/") || /^\/[/\\]|[\t\r\n\\]/.test(wanted)) return otherwise;
  const url = URL.parse(wanted, ANY);
  if (url?.origin !== ANY || url.pathname.startsWith("//")) return otherwise;
  url.searchParams.delete("_rsc");
  return `${url.pathname}${url.search}`;
}

export function signInPath(from: string): string {
  const back = sameSitePath(from, "/dashboard");
  return back === "/dashboard" ? "/sign-in" : `/sign-in?${new URLSearchParams({ next: back })}`;
}
