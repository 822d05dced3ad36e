import type { AppRouter } from "./app-router.ts";

/** As JSON writes it: times are ISO 8601. */
type Json<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? Json<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Json<Value[Name]> }
      : Value;

type Billing = AppRouter["_def"]["record"]["billing"];
type Output<Name extends keyof Billing> = Billing[Name]["_def"]["$types"]["output"];

export type Entitlements = Json<Output<"entitlements">>;
export type EntitlementCheck = Json<Output<"check">>;
export type Subscription = Json<NonNullable<Output<"subscription">>>;
export type Payment = Json<Output<"payments">["items"][number]>;

/**
 * Whom a service key acts for: Tollgate's id, or your own. With a user's key: nobody else, so leave it out.
 */
export type UserRef = { user: string } | { externalId: string };
