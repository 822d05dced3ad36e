import type { ChangeObstacle } from "../refusals/change-obstacle.ts";

/** Why a request to a provider failed. */
export type PaymentApiFailure =
  /** No response in time, or a provider error: try again later. */
  | "unreachable"
  /** A single object is not as expected: others may be. */
  | "unreadable"
  /** The key was rejected: the operator must fix it. */
  | "unauthorized"
  /** The provider has no object with this id. */
  | "missing"
  /** The address belongs to an existing customer, and nothing proves that the person is that customer. */
  | "taken"
  /** Invalid request, for instance an unknown price. */
  | "rejected"
  /** The provider cannot make this change of the object as it is now. */
  | "unsupported"
  /** The customer's payment was declined, or needs their confirmation; nothing was changed. */
  | "declined"
  /** Of several requests that belong together one failed, after others had succeeded. */
  | "incomplete";

/** The message is for the operator: it quotes the provider, but never a key. */
export class PaymentApiProblem extends Error {
  override name = "PaymentApiProblem";
  readonly failure: PaymentApiFailure;
  /** The provider's `Retry-After`; `null`: not sent. */
  readonly retryAfterMs: number | null;
  /** Of a change: whether the one that waited for the period's end has been withdrawn all the same. */
  hasWithdrawnSchedule = false;
  /** What stands in the way of a change that is `unsupported`. */
  readonly obstacle: ChangeObstacle;

  constructor(
    failure: PaymentApiFailure,
    message: string,
    {
      retryAfterMs = null,
      obstacle = "not_offered",
      ...options
    }: ErrorOptions & { retryAfterMs?: number | null; obstacle?: ChangeObstacle | undefined } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
    this.obstacle = obstacle;
  }
}

/** Whether no other request of the slot would succeed either. */
export function concernsWholeSlot({ failure }: PaymentApiProblem): boolean {
  return failure === "unreachable" || failure === "unauthorized";
}

/** Not by class: the bundled pages have their own copies of our classes. */
export function isPaymentApiProblem(error: unknown): error is PaymentApiProblem {
  return error instanceof Error && "failure" in error;
}
