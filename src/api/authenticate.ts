import type { Context } from "hono";
import type { Caller, Person } from "../domain/callers/caller.ts";
import { notFound, Refusal, refuse } from "../domain/refusals/refusal.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { isCrossOrigin, type Write } from "../http/origin-check.ts";
import { addCookie } from "../http/response-headers.ts";
import type { LimitCharge } from "../limits/charge.ts";
import type { Limits } from "../limits/rate-limit.ts";
import { type Call, charge } from "../operations/call.ts";

type Credentials = { header(name: string): string | undefined; address: string };

/** What authentication needs to know of a request. */
export type CallerContext = {
  auth: {
    identify(credentials: Credentials): Promise<{ caller: Caller; setCookies: readonly string[] }>;
    /** The owner of a plugin's secret link; `null`: unknown, replaced or revoked. */
    authenticateLink(plugin: string, secret: string, address: string): Promise<Person | null>;
  };
  /** The client's address, which limits count by when there is no session. */
  clientAddress(socketAddress: string | undefined, forwardedFor: string | undefined): string;
  ownOrigins(): readonly string[];
  /** Wrong keys are charged to the client's address. */
  limits: Limits;
};

/**
 * The first step of every call on every surface: identifies the caller and rejects cross-origin writes.
 * @throws Refusal `unauthorized` for an invalid key, `forbidden` for a cross-origin write
 */
export async function authenticate(c: Context<HonoEnv>, callers: CallerContext): Promise<Call> {
  const charges: LimitCharge[] = [];
  c.set("charges", charges);
  const { caller, setCookies } = await identify(credentialsOf(c, callers), callers, charges);
  for (const cookie of setCookies) addCookie(c, cookie);
  // A page that has a service key shows it to everybody who opens it.
  if (caller.kind === "service" && c.env.incoming.headers.origin !== undefined) {
    refuse({ reason: "cross_origin" });
  }
  rejectCrossOriginWrite(c, callers, { byCookie: caller.kind === "session" });
  return {
    caller,
    charges,
    acceptLanguage: c.env.incoming.headers["accept-language"],
    identified: {
      atMs: performance.now(),
      again: async () => (await callers.auth.identify(credentialsOf(c, callers))).caller,
    },
  };
}

/**
 * Identifies the caller by the secret in a plugin's address; cookies and keys are not read.
 * @throws Refusal `not_found` for an unknown secret, which is charged like a wrong key
 */
export async function authenticateLink(
  c: Context<HonoEnv>,
  callers: CallerContext,
  { plugin, secret }: { plugin: string; secret: string },
): Promise<Call & { caller: Person }> {
  const charges: LimitCharge[] = [];
  c.set("charges", charges);
  const address = addressOf(c, callers);
  const ownerOf = () => callers.auth.authenticateLink(plugin, secret, address);
  const caller = await ownerOf();
  if (caller === null) {
    await charge("auth-key", callers.limits, { caller: { kind: "anonymous", address }, charges });
    notFound("endpoint");
  }
  const again = async () => (await ownerOf()) ?? notFound("endpoint");
  return { caller, charges, identified: { atMs: performance.now(), again } };
}

/**
 * For routes that know only sessions, which they read themselves: a key that is sent must be valid all the
 * same, and a service key opens none of them. @throws Refusal
 */
export async function checkKey(
  c: Context<HonoEnv>,
  callers: CallerContext,
  charges: LimitCharge[],
): Promise<void> {
  const { header, address } = credentialsOf(c, callers);
  const withoutCookie = (name: string) => (name === "cookie" ? undefined : header(name));
  const { caller } = await identify({ header: withoutCookie, address }, callers, charges);
  if (caller.kind === "service") refuse({ reason: "forbidden" });
}

/** @throws Refusal */
async function identify(credentials: Credentials, callers: CallerContext, charges: LimitCharge[]) {
  const { address } = credentials;
  try {
    return await callers.auth.identify(credentials);
  } catch (error) {
    if (error instanceof Refusal && error.code === "unauthorized") {
      await charge("auth-key", callers.limits, { caller: { kind: "anonymous", address }, charges });
    }
    throw error;
  }
}

function credentialsOf(c: Context<HonoEnv>, callers: CallerContext): Credentials {
  const header = (name: string) => c.env.incoming.headers[name] as string | undefined;
  return { header, address: addressOf(c, callers) };
}

export function addressOf(c: Context<HonoEnv>, callers: CallerContext): string {
  const { headers, socket } = c.env.incoming;
  return callers.clientAddress(socket.remoteAddress, headers["x-forwarded-for"] as string | undefined);
}

/** @throws Refusal */
export function rejectCrossOriginWrite(
  c: Context<HonoEnv>,
  callers: CallerContext,
  { byCookie }: Pick<Write, "byCookie">,
): void {
  const { headers } = c.env.incoming;
  const write = {
    method: c.req.method,
    secFetchSite: headers["sec-fetch-site"] as string | undefined,
    origin: headers.origin,
    byCookie,
  };
  if (isCrossOrigin(write, callers.ownOrigins)) refuse({ reason: "cross_origin" });
}
