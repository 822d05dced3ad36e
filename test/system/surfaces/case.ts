import { randomUUID } from "node:crypto";
import type { RefusalCode } from "../../../src/domain/reasons.ts";
import type { Belongings } from "./belongings.ts";
import type { LimitedScope } from "./book.ts";
import type { Cast } from "./cast.ts";
import type { CallerName, Input, Who } from "./surface.ts";

export type PersonName = keyof Cast["people"];

export type Ask = {
  input: Input | ((cast: Cast, caller: PersonName) => Input);
  /** Why whoever may call is refused; without, it is all right, and comes to what `may` says. */
  refused?: RefusalCode;
  /** Surfaces that offer less on purpose. */
  notOn?: readonly string[];
  /** Part of what there is after a call that was let through. */
  leaves?: (cast: Cast, caller: PersonName) => Belongings;
};

export type Case = {
  scope: LimitedScope;
  may: Who;
  writes?: true;
  /** The first one is all right, and may be repeated. */
  asks: readonly [Ask, ...Ask[]];
};

/** Forms have fields of their own besides. */
export const UNHEARD_OF: Ask = { input: { surprise: 1 }, refused: "invalid_input", notOn: ["forms"] };

export const PAGES: Case["asks"] = [
  { input: {} },
  { input: { limit: 1 } },
  { input: { limit: 100 } },
  { input: { limit: 0 }, refused: "invalid_input" },
  { input: { limit: 101 }, refused: "invalid_input" },
  { input: { cursor: "no cursor" }, refused: "invalid_input" },
  UNHEARD_OF,
];

export const WITHOUT_INPUT: Case["asks"] = [{ input: {} }, UNHEARD_OF];

export const noSuch = (name: string): Ask => ({
  input: () => ({ [name]: randomUUID() }),
  refused: "not_found",
});
export const bad = (input: Input): Ask => ({ input, refused: "invalid_input" });

/** What the caller sends, or who would be meant by a caller that is nobody. */
export function inputOf({ input }: Ask, cast: Cast, caller: CallerName): Input {
  return typeof input === "function" ? input(cast, personOf(caller)) : input;
}

export function personOf(caller: CallerName): PersonName {
  if (caller === "key" || caller === "nobody") return "owner";
  return caller === "adminKey" ? "admin" : caller;
}
