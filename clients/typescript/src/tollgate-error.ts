import type { Reason } from "./app-router.ts";

export type TollgateErrorFacts = {
  /** The HTTP status; `null`: no response arrived. */
  status: number | null;
  /** `network`: no response arrived in time. Servers of a later version may know further reasons. */
  reason: Reason | "network" | (string & {});
  params?: Record<string, unknown>;
  /** How long the server asks to wait. */
  retryAfterSeconds?: number | null;
  /** Names the request in the server's log. */
  requestId?: string | null;
  cause?: unknown;
};

/** Any call that failed, on every interface: the server's message, with a reason that programs can read. */
export class TollgateError extends Error {
  override readonly name = "TollgateError";
  readonly status: number | null;
  readonly reason: TollgateErrorFacts["reason"];
  readonly params: Record<string, unknown>;
  readonly retryAfterSeconds: number | null;
  readonly requestId: string | null;

  constructor(message: string, facts: TollgateErrorFacts) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.reason = facts.reason;
    this.params = facts.params ?? {};
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.requestId = facts.requestId ?? null;
  }
}
