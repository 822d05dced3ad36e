import type { Auth, Identified } from "./auth.ts";
import type { BySession } from "./by-session.ts";
import type { KeyHolder } from "./key-holder.ts";
import { presentedKey } from "./presented-key.ts";

export type IdentifyOptions = {
  bySession: BySession;
  keyHolder: KeyHolder;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** By API key when one is presented, else by cookie; a key that is no good does not fall back. */
export function identifyWith({ bySession, keyHolder, now }: IdentifyOptions): Auth["identify"] {
  return async (credentials): Promise<Identified> => {
    const { address } = credentials;
    const key = presentedKey(credentials);
    if (key !== undefined) return { caller: await keyHolder(key, address, now()), setCookies: [] };

    const cookie = credentials.header("cookie");
    const identified = cookie === undefined ? null : await bySession(cookie, address);
    return identified ?? { caller: { kind: "nobody", address }, setCookies: [] };
  };
}
