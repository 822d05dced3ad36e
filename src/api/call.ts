import type { Context } from "hono";
import type { Caller } from "../domain/caller.ts";
import { refuse } from "../domain/refusal.ts";
import type { Call } from "../operations/operation.ts";
import { addCookie } from "./door/head.ts";
import { isForeignWrite } from "./door/own-origin.ts";
import type { ApiEnvironment } from "./environment.ts";

/** What it takes to know who is calling. */
export type CallerDesk = {
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
export async function openCall(c: Context<ApiEnvironment>, desk: CallerDesk): Promise<Call> {
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

export function addressOf(c: Context<ApiEnvironment>, desk: CallerDesk): string {
  const { headers, socket } = c.env.incoming;
  return desk.clientAddress(socket.remoteAddress, headers["x-forwarded-for"] as string | undefined);
}

/** @throws Refusal */
export function assertOwnPage(c: Context<ApiEnvironment>, desk: CallerDesk, byCookie: boolean): void {
  const { headers } = c.env.incoming;
  const write = {
    method: c.req.method,
    secFetchSite: headers["sec-fetch-site"] as string | undefined,
    origin: headers.origin,
    byCookie,
  };
  if (isForeignWrite(write, desk.ownOrigins)) refuse("forbidden", "Forbidden");
}
