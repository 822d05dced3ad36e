import type { Context } from "hono";
import type { Caller } from "../domain/caller.ts";
import { refuse } from "../domain/refusal.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { isCrossOrigin } from "../http/origin-check.ts";
import { addCookie } from "../http/response-headers.ts";
import type { Call } from "../operations/operation.ts";

/** What it takes to know who is calling. */
export type CallerContext = {
  auth: {
    identify(credentials: {
      header(name: string): string | undefined;
      address: string;
    }): Promise<{ caller: Caller; setCookies: readonly string[] }>;
  };
  /** What limits count by when nobody is signed in. */
  clientAddress(socketAddress: string | undefined, forwardedFor: string | undefined): string;
  ownOrigins(): readonly string[];
};

/**
 * The first step of every call, on whatever surface: who it is, and whether the person's own browser page sent it.
 * @throws Refusal `unauthorized` for a key that is no good, `forbidden` for a write on behalf of a foreign page
 */
export async function authenticate(c: Context<HonoEnv>, desk: CallerContext): Promise<Call> {
  const { caller, setCookies } = await desk.auth.identify({
    header: (name) => c.env.incoming.headers[name] as string | undefined,
    address: addressOf(c, desk),
  });
  for (const cookie of setCookies) addCookie(c, cookie);
  assertOwnPage(c, desk, caller.kind === "session");
  const call: Call = { caller, charges: [] };
  c.set("charges", call.charges);
  return call;
}

export function addressOf(c: Context<HonoEnv>, desk: CallerContext): string {
  const { headers, socket } = c.env.incoming;
  return desk.clientAddress(socket.remoteAddress, headers["x-forwarded-for"] as string | undefined);
}

/** @throws Refusal */
export function assertOwnPage(c: Context<HonoEnv>, desk: CallerContext, byCookie: boolean): void {
  const { headers } = c.env.incoming;
  const write = {
    method: c.req.method,
    secFetchSite: headers["sec-fetch-site"] as string | undefined,
    origin: headers.origin,
    byCookie,
  };
  if (isCrossOrigin(write, desk.ownOrigins)) refuse("forbidden", "Forbidden");
}
