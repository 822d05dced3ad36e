import { type PaymentApiFailure, PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { ChangeObstacle } from "../../domain/refusals/change-obstacle.ts";
import { type ConnectedProvider, variableNameOf } from "./connected-provider.ts";

const MAX_WORDS_CHARACTERS = 300;

/** What callers handle of a provider's error, beside its kind. */
export class RefusedByProvider extends PaymentApiProblem {
  /** The provider's own code. */
  readonly code: string | null;
  /** The HTTP status of a refusal in the provider's own format; `null`: something else failed. */
  readonly refusedWith: number | null;
  /** What the operator can do: the last sentence of the message. */
  readonly remedy: string;

  constructor(
    failure: PaymentApiFailure,
    message: string,
    {
      code,
      refusedWith,
      remedy,
      retryAfterMs,
      obstacle,
    }: Omit<RefusedByProvider, keyof PaymentApiProblem> & {
      retryAfterMs: number | null;
      obstacle?: ChangeObstacle | undefined;
    },
  ) {
    super(failure, message, { retryAfterMs, obstacle });
    this.code = code;
    this.refusedWith = refusedWith;
    this.remedy = remedy;
  }
}

/** @param detail one clause: the request and its result */
export function problem(
  provider: ConnectedProvider,
  failure: PaymentApiFailure,
  detail: string,
  {
    code = null,
    refusedWith = null,
    remedy = remedyFor(provider, failure),
    retryAfterMs = null,
    obstacle,
  }: {
    code?: string | null;
    refusedWith?: number | null;
    remedy?: string;
    retryAfterMs?: number | null;
    obstacle?: ChangeObstacle | undefined;
  } = {},
): RefusedByProvider {
  const message = `${provider.slot} (${provider.traits.name}): ${tidied(detail)}. ${remedy}`;
  return new RefusedByProvider(failure, withoutKey(provider, message), {
    code,
    refusedWith,
    remedy,
    retryAfterMs,
    obstacle,
  });
}

function remedyFor(provider: ConnectedProvider, failure: PaymentApiFailure): string {
  switch (failure) {
    case "unauthorized":
      return `Set ${variableNameOf(provider, "API_KEY")} to ${provider.traits.apiKey.hint}, with the permissions it needs, and start again.`;
    case "missing":
      return `Check that the key in ${variableNameOf(provider, "API_KEY")} is of the account, and of the mode (test or live), that the id comes from.`;
    case "taken":
      return `Set REQUIRE_EMAIL_CONFIRMATION to on, or put the person's userId into the customer's custom data in ${provider.traits.name}.`;
    case "unsupported":
    case "declined":
      return "Nothing was changed.";
    case "rejected":
      return `Check the price ids of ${provider.slot} in plans.config.ts against the provider's catalogue.`;
    case "unreadable":
      return `Upgrade, or report it: this release does not know what ${provider.traits.name} sends.`;
    case "incomplete":
    case "unreachable":
      return `Try again later; if it lasts, check ${variableNameOf(provider, "API_URL")} and the provider's status page.`;
    default:
      return failure satisfies never;
  }
}

// Provider text ends up in our log: it is stripped of control characters and shortened.
function tidied(text: string): string {
  const line = text.replace(/[\s\p{C}]+/gu, " ").trim();
  return line.length > MAX_WORDS_CHARACTERS ? `${line.slice(0, MAX_WORDS_CHARACTERS)}…` : line;
}

function withoutKey({ apiKey }: ConnectedProvider, text: string): string {
  return apiKey === "" ? text : text.replaceAll(apiKey, "(the key)");
}
