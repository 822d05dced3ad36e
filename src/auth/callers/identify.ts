import type { Auth, IdentifiedCaller } from "../auth.ts";
import type { AuthenticateKey } from "./authenticate-key.ts";
import type { AuthenticateSession } from "./authenticate-session.ts";
import { presentedKey } from "./presented-key.ts";

export type IdentifyOptions = {
  authenticateSession: AuthenticateSession;
  authenticateKey: AuthenticateKey;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** By API key when one is presented, else by cookie. An invalid key does not fall back to the cookie. */
export function createIdentify({
  authenticateSession,
  authenticateKey,
  now,
}: IdentifyOptions): Auth["identify"] {
  return async (credentials): Promise<IdentifiedCaller> => {
    const { address, sessionsOnly = false } = credentials;
    const nobody = { caller: { kind: "anonymous" as const, address }, setCookies: [] };
    const key = presentedKey(credentials);
    if (key !== undefined) {
      return sessionsOnly ? nobody : { caller: await authenticateKey(key, address, now()), setCookies: [] };
    }

    const cookie = credentials.header("cookie");
    const identified = cookie === undefined ? null : await authenticateSession(cookie, address);
    return identified ?? nobody;
  };
}
