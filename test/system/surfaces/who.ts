import type { Verdict, Who } from "./surface.ts";

/** Everybody, signed in or not. */
export const ANYONE: Who = everybody("ok");

/** Whoever has an account, with a session or by a key. */
export const PEOPLE: Who = people("ok");

/** A key does not do what is for sessions alone. */
export const SESSIONS: Who = withoutKeys(people("ok"));

/** An administrator's key is not one. */
export const ADMINISTRATORS: Who = administrators("ok");

/** What belongs to the owner is not there for anybody else, administrators included. */
export const OWNER: Who = { ...people("not_found"), owner: "ok", key: "ok" };

export const OWNER_IN_SESSION: Who = withoutKeys(OWNER);

function everybody(verdict: Verdict): Who {
  return { nobody: verdict, owner: verdict, other: verdict, key: verdict, admin: verdict, adminKey: verdict };
}

export function people(verdict: Verdict): Who {
  return { ...everybody(verdict), nobody: "unauthorized" };
}

export function administrators(verdict: Verdict): Who {
  return { ...people("forbidden"), admin: verdict };
}

function withoutKeys(who: Who): Who {
  return { ...who, key: "forbidden", adminKey: "forbidden" };
}
