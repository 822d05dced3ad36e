import { randomUUID } from "node:crypto";
import type { RefusalCode } from "../../../src/domain/reason-definition.ts";
import type { Belongings } from "./belongings.ts";
import type { LimitedScope } from "./limit-tracker.ts";
import type { CallerName, Input, Who } from "./surface.ts";
import type { TestData } from "./test-data.ts";

export type PersonName = keyof TestData["people"];

export type Ask = {
  input: Input | ((testData: TestData, caller: PersonName) => Input);
  /** Why whoever may call is refused; without, it is all right, and comes to what `may` says. */
  refused?: RefusalCode;
  /** Surfaces that offer less on purpose. */
  notOn?: readonly string[];
  /** Part of what there is after a call that was let through. */
  leaves?: (testData: TestData, caller: PersonName) => Belongings;
};

export type Case = {
  scope: LimitedScope;
  may: Who;
  writes?: true;
  /** The first one is all right, and may be repeated. */
  asks: readonly [Ask, ...Ask[]];
};

/** Forms have fields of their own besides. */
export const UNKNOWN_ID: Ask = { input: { surprise: 1 }, refused: "invalid_input", notOn: ["forms"] };

export const PAGES: Case["asks"] = [
  { input: {} },
  { input: { limit: 1 } },
  { input: { limit: 100 } },
  { input: { limit: 0 }, refused: "invalid_input" },
  { input: { limit: 101 }, refused: "invalid_input" },
  { input: { cursor: "no cursor" }, refused: "invalid_input" },
  UNKNOWN_ID,
];

export const WITHOUT_INPUT: Case["asks"] = [{ input: {} }, UNKNOWN_ID];

export const noSuch = (name: string): Ask => ({
  input: () => ({ [name]: randomUUID() }),
  refused: "not_found",
});
export const bad = (input: Input): Ask => ({ input, refused: "invalid_input" });

/** What the caller sends, or who would be meant by a caller that is nobody. */
export function inputOf({ input }: Ask, testData: TestData, caller: CallerName): Input {
  return typeof input === "function" ? input(testData, personOf(caller)) : input;
}

export function personOf(caller: CallerName): PersonName {
  if (caller === "key" || caller === "nobody") return "owner";
  return caller === "adminKey" ? "admin" : caller;
}
