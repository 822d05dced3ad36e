import Stripe from "stripe";
import { PaymentApiProblem } from "../../domain/payment-api.ts";
import type { ConnectedProvider, ProviderError } from "../outbound/connected-provider.ts";
import { problem } from "../outbound/problems.ts";
import type { Request } from "../outbound/request.ts";
import { textAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";

/** The SDK writes the requests and reads the answers; sent they are by us, which keeps the API's URL, path and all. */
export function stripeClient(provider: ConnectedProvider, ask: SendRequest): Stripe {
  return new Stripe(provider.apiKey, {
    maxNetworkRetries: 0,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(async (url: unknown, init?: RequestInit) =>
      Response.json(await ask(requestOf(String(url), init ?? {}))),
    ),
  });
}

function requestOf(url: string, { method, headers, body }: RequestInit): Request {
  const { pathname, search } = new URL(url);
  return {
    method: method as Request["method"],
    path: pathname + search,
    headers: Object.fromEntries(new Headers(headers)),
    ...(typeof body === "string" ? { body } : {}),
    // Every POST has an idempotency key: ours, or one that the SDK made.
    repeatable: true,
  };
}

/** The SDK wraps what goes wrong in the sending. */
export async function mapStripeErrors<Answer>(
  provider: ConnectedProvider,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const cause = error instanceof Stripe.errors.StripeConnectionError ? error.detail : error;
    if ((cause as unknown) instanceof PaymentApiProblem) throw cause;
    throw problem(provider, "unreachable", error instanceof Error ? error.message : "an unknown error");
  }
}

export function readStripeError(status: number, body: unknown): ProviderError | null {
  const words = textAt(body, "error", "message");
  if (words === null) return null;
  const code = textAt(body, "error", "code");
  // Of a customer who is named in the body it says so with 400.
  const isCustomer = textAt(body, "error", "param") === "customer";
  if (code === "resource_missing" && isCustomer) return { message: words, code, means: "missing" };
  if (code === "lock_timeout" || code === "idempotency_key_in_use")
    return { message: words, code, means: "busy" };
  // An unknown path is answered with 404 as well.
  return status === 404 && code !== "resource_missing" ? null : { message: words, code };
}
