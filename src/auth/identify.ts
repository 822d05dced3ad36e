import type { Auth, Identified } from "./auth.ts";
import type { AuthenticateApiKey } from "./authenticate-api-key.ts";
import type { AuthenticateSession } from "./authenticate-session.ts";
import { presentedKey } from "./presented-key.ts";

export type IdentifyOptions = {
  authenticateSession: AuthenticateSession;
  keyHolder: AuthenticateApiKey;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** By API key when one is presented, else by cookie. An invalid key does not fall back to the cookie. */
export function createIdentify({ authenticateSession, keyHolder, now }: IdentifyOptions): Auth["identify"] {
  return async (credentials): Promise<Identified> => {
    const { address } = credentials;
    const key = presentedKey(credentials);
    if (key !== undefined) return { caller: await keyHolder(key, address, now()), setCookies: [] };

    const cookie = credentials.header("cookie");
    const identified = cookie === undefined ? null : await authenticateSession(cookie, address);
    return identified ?? { caller: { kind: "anonymous", address }, setCookies: [] };
  };
}
