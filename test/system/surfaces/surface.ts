import type { RefusalCode } from "../../../src/domain/refusals/reason-definition.ts";
import type { Reason } from "../../../src/domain/refusals/reasons.ts";
import type { Scope } from "../../../src/limits/policies.ts";
import type { HttpResponse } from "../../support/http.ts";
import type { LimitedScope } from "./limit-tracker.ts";

export const CALLERS = ["nobody", "owner", "other", "key", "admin", "adminKey"] as const;

/**
 * The owner of the requested object, another user, an administrator, and a key of the first and of the last.
 */
export type CallerName = (typeof CALLERS)[number];

export type Verdict = "ok" | RefusalCode;

/** The outcome of a valid call, by caller. */
export type Who = Record<CallerName, Verdict>;

export type Credentials = { cookie?: string; key?: string; headers: Record<string, string> };

export type Input = Record<string, unknown>;

/** The data of a refusal, without its sentence. */
export type ShownReason = { reason: Reason; params: Record<string, unknown> };

/** The outcome of a call, in the same terms for every surface. */
export type CallOutcome = {
  verdict: Verdict;
  /** Of a refusal. */
  message: string | null;
  /** Of a refusal, where the surface shows it. */
  reason: ShownReason | null;
  /** As the operation has it, with times as text. */
  output: unknown;
  /** The remaining requests of each scope that the call was charged to. */
  remaining: Partial<Record<Scope, number>>;
  /** What `X-RateLimit-Remaining` says. */
  lowest: number | null;
  retryAfterSeconds: number | null;
};

/** One way to call operations. To add a surface, write such an object and add it to `SURFACES`. */
export type Surface = {
  name: string;
  /** Charged for every call, in addition to the operation's own scope. */
  scope: LimitedScope | null;
  /** Whether its responses show more than was requested, so that more operations run. */
  showsMore?: true;
  /** Every entry of the surface's own table of operations. */
  entrances: readonly string[];
  /** The names of the operations behind each of them. */
  leadsTo: Readonly<Record<string, readonly string[]>>;
  /** Whether a refusal there is its sentence alone. */
  hidesReasons?: true;
  /** Intended differences from the other surfaces. */
  differs: Readonly<Record<string, Difference>>;
  /** Whether the surface itself refuses the input, so that the operation is not called. */
  refusesInput(operation: string, input: Input): boolean;
  call(serverUrl: string, operation: string, caller: Credentials, input: Input): Promise<CallOutcome>;
};

export type Difference = {
  may?: Who;
  /** What it shows of the operation's output. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has an output of its own
  shows?: (output: any) => unknown;
  /** The message of a refusal on this surface. */
  says?: (message: string, verdict: Verdict, reason: ShownReason | null) => string | null;
  /** The name under which the call is counted. */
  countedAs?: string;
};

export function offers({ leadsTo }: Surface, operation: string): boolean {
  return Object.values(leadsTo).some((operations) => operations.includes(operation));
}

/** The outcome of a valid call for each caller. @param may the outcome on surfaces that do not differ */
export function mayOn({ differs }: Surface, operation: string, may: Who): Who {
  return differs[operation]?.may ?? may;
}

/** Whether the call came as far as the operation's limit. */
export function isLetThrough(verdict: Verdict): boolean {
  return verdict !== "unauthorized" && verdict !== "forbidden";
}

/** @throws when there is none */
export function entranceTo({ leadsTo, name }: Pick<Surface, "leadsTo" | "name">, operation: string): string {
  const entry = Object.entries(leadsTo).find(([, operations]) => operations.includes(operation));
  if (!entry) throw new Error(`${operation} is not offered by ${name}`);
  return entry[0];
}

/** The limits in the headers of an HTTP response. */
export function limitsIn({
  headers,
}: Pick<HttpResponse, "headers">): Pick<CallOutcome, "remaining" | "lowest" | "retryAfterSeconds"> {
  const number = (name: string) => (headers.has(name) ? Number(headers.get(name)) : null);
  const limits = [...(headers.get("ratelimit") ?? "").matchAll(/"([\w-]+)";r=(\d+)/g)];
  return {
    remaining: Object.fromEntries(limits.map(([, scope, remaining]) => [scope, Number(remaining)])),
    lowest: number("x-ratelimit-remaining"),
    retryAfterSeconds: number("retry-after"),
  };
}
