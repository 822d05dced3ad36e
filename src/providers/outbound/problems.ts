import { type PaymentApiFailure, PaymentApiProblem } from "../../domain/payment-api.ts";
import { type ConnectedProvider, variableNameOf } from "./connected-provider.ts";

const MAX_WORDS_CHARACTERS = 300;

/** The provider's error codes that callers handle. */
export class RefusedByProvider extends PaymentApiProblem {
  readonly code: string | null;

  constructor(
    failure: PaymentApiFailure,
    message: string,
    { code, retryAfterMs }: { code: string | null; retryAfterMs: number | null },
  ) {
    super(failure, message, { retryAfterMs });
    this.code = code;
  }
}

/** @param what one clause: the request and its result */
export function problem(
  provider: ConnectedProvider,
  failure: PaymentApiFailure,
  what: string,
  {
    code = null,
    remedy = remedyFor(provider, failure),
    retryAfterMs = null,
  }: { code?: string | null; remedy?: string; retryAfterMs?: number | null } = {},
): RefusedByProvider {
  const message = `${provider.slot} (${provider.traits.name}): ${tidied(what)}. ${remedy}`;
  return new RefusedByProvider(failure, withoutKey(provider, message), { code, retryAfterMs });
}

function remedyFor(provider: ConnectedProvider, failure: PaymentApiFailure): string {
  switch (failure) {
    case "unauthorized":
      return `Set ${variableNameOf(provider, "API_KEY")} to ${provider.traits.apiKey.hint}, with the permissions it needs, and start again.`;
    case "missing":
      return `Check that the key in ${variableNameOf(provider, "API_KEY")} is of the account, and of the mode (test or live), that the id comes from.`;
    case "taken":
      return `Set REQUIRE_EMAIL_CONFIRMATION to on, or put the person's userId into the customer's custom data in ${provider.traits.name}.`;
    case "rejected":
      return `Check the price ids of ${provider.slot} in plans.config.ts against the provider's catalogue.`;
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
