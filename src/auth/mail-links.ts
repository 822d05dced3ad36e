/**
 * Where a password is set, whatever page the request named: a stranger may have asked for the mail, a page of their choice would
 * set none, and a person gets few such mails.
 * @param link Better Auth's
 */
export function resetLink(link: string): string {
  const url = new URL(link);
  url.searchParams.set("callbackURL", "/reset-password");
  return url.href;
}

/**
 * A page whose button confirms the address: mail scanners open links, and would confirm it for whoever has signed up with it.
 * @param link Better Auth's, which confirms it at once
 */
export function confirmationLink(link: string): string {
  const { origin, searchParams } = new URL(link);
  const { pathname, search } = new URL(searchParams.get("callbackURL") ?? "/", origin);
  const then = pathname + search;
  const query = new URLSearchParams({
    token: searchParams.get("token") ?? "",
    // The home page, where Better Auth leads by default, would not say that the address is confirmed.
    callbackURL: then === "/" ? "/verify-email?done" : then,
  });
  return `${origin}/verify-email?${query}`;
}
