import type { Caller } from "../domain/callers/caller.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import { type LimitCharge, retryAfterSeconds } from "../limits/charge.ts";
import { limitKey } from "../limits/limit-key.ts";
import type { ChargedScope, Limit } from "../limits/policies.ts";
import type { Limits, RateLimitResult } from "../limits/rate-limit.ts";

/** One request from outside, which may call several operations. */
export type Call = {
  caller: Caller;
  /** Every charge so far, refused ones included: the surface shows what remains. */
  charges: LimitCharge[];
  /** Not charged to any limit: a page's reads are charged as one page. */
  isExempt?: boolean;
  /** How many operations of a service key have been charged with the request that calls them. */
  prepaid?: number;
  /** The request's `Accept-Language`. */
  acceptLanguage?: string | undefined;
  /**
   * When the caller was identified, by `performance.now()`, and who they are by now, by the same credentials;
   * absent where all input has arrived. `again` throws a Refusal.
   */
  identified?: { atMs: number; again(): Promise<Caller> };
};

/** Ordinary bodies arrive together with their request, or soon, and most requests call one operation. */
const LATE_AFTER_MS = 100;

/** Whether a caller who was identified then, by `performance.now()`, has to be identified again. */
export function isLate(identifiedAtMs: number): boolean {
  return performance.now() - identifiedAtMs > LATE_AFTER_MS;
}

/**
 * Reads a call's input. A caller who was identified some time ago is identified again: otherwise a client
 * could hold a body back, or put a slow mutation before another, until after its session or key was revoked,
 * or its role taken away.
 * @throws Refusal
 */
export async function readInputOf<Input>(call: Call, read: () => Input | Promise<Input>): Promise<Input> {
  const input = await read();
  const { identified } = call;
  if (identified !== undefined && isLate(identified.atMs)) {
    call.caller = await identified.again();
    identified.atMs = performance.now();
  }
  return input;
}

/**
 * Counts a call in a scope: an operation's own, or that of a surface, besides the operations called through
 * it.
 * @param cost charged as a whole or not at all
 * @throws Refusal
 */
export async function charge(
  scope: ChargedScope,
  limits: Limits | null,
  call: Call,
  cost = 1,
): Promise<void> {
  const { caller, charges } = call;
  if (caller.kind === "operator" || call.isExempt) return;
  if (limits === null) throw new Error(`a call by "${caller.kind}" needs limits`);
  if (caller.kind === "service") {
    // Their operations are known only after the request has been charged: they are then charged already.
    if (scope === "rpc" || scope === "graphql") call.prepaid = (call.prepaid ?? 0) + cost;
    else if (call.prepaid) {
      call.prepaid -= 1;
      return;
    }
  }
  const counted = countedAs(scope, caller, limits);
  if (cost > counted.limit) refuse({ reason: "batch_too_large", params: { max: counted.limit } });
  let decision: RateLimitResult | Promise<RateLimitResult>;
  try {
    decision = limits.rateLimit(limitKey(counted.scope, counted.id), {
      limit: counted.limit,
      windowSeconds: counted.windowSeconds,
      cost,
    });
    if (decision instanceof Promise) decision = await decision;
  } catch (error) {
    if (error instanceof Error && error.name === "LimiterUnavailable") refuse({ reason: "unavailable" });
    throw error;
  }
  const { id: _, ...policy } = counted;
  const charged = { ...policy, ...decision, decidedAt: limits.now() };
  charges.push(charged);
  if (!decision.allowed)
    refuse({ reason: "rate_limited", params: { retryAfterSeconds: retryAfterSeconds(charged) } });
}

type Counted = { scope: ChargedScope; id: string } & Limit;

/** A service key is charged to its own limit alone, whatever it calls. */
function countedAs(
  scope: ChargedScope,
  caller: Exclude<Caller, { kind: "operator" }>,
  { policies }: Limits,
): Counted {
  if (caller.kind === "service") return { scope: "service-key", id: caller.keyId, ...caller.limit };
  if (scope === "service-key") throw new Error(`a call by "${caller.kind}" has no limit of its own`);
  return { scope, id: caller.kind === "anonymous" ? caller.address : caller.userId, ...policies[scope] };
}
