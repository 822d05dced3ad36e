import { createPolarCore } from "@polar-sh/sdk/2026-10";
import type { ApiRequest } from "../outbound/api-request.ts";
import type { ConnectedProvider, ProviderError } from "../outbound/connected-provider.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";

export type PolarClient = ReturnType<typeof createPolarCore>;

/** The SDK builds requests and parses responses; we send them, with our own retries and limits. */
export function polarClient(provider: ConnectedProvider, send: SendRequest): PolarClient {
  const client = createPolarCore({ accessToken: provider.apiKey, baseUrl: "" });
  client.sendRequest = async ([path, init]) => Response.json(await send(requestOf(path, init)));
  return client;
}

function requestOf(path: string, { method, headers, body }: RequestInit): ApiRequest {
  return {
    method: method as ApiRequest["method"],
    path,
    headers: Object.fromEntries(new Headers(headers)),
    ...(typeof body === "string" ? { body } : {}),
    // There are no idempotency keys: a repeated POST would open a second checkout. A second session is
    // harmless.
    repeatable: method !== "POST" || path.startsWith("/v1/customer-sessions"),
  };
}

export function readPolarError(status: number, body: unknown): ProviderError | null {
  const code = textAt(body, "error");
  const [first] = listAt(body, "detail");
  if (first !== undefined) {
    const location = listAt(first, "loc").join(".");
    const messages = listAt(body, "detail").map(
      (detail) => `${listAt(detail, "loc").join(".")}: ${textAt(detail, "msg")}`,
    );
    // A malformed id in the path, or an unknown customer.
    const isUnknownId = status === 422 && (location.startsWith("path.") || location.endsWith("customer_id"));
    return {
      message: messages.join("; "),
      code: location,
      ...(isUnknownId ? { means: "missing" as const } : {}),
    };
  }
  if (code === null) return null;
  const message = textAt(body, "error_description") ?? textAt(body, "detail") ?? code;
  if (code === "SubscriptionLocked") return { message, code, means: "busy" };
  if (DECLINED.has(code)) return { message, code, means: "declined" };
  if (code === "SeatsAlreadyAssigned")
    return { message, code, means: "unsupported", obstacle: "seats_assigned" };
  return isRefusedObject(status, code) ? { message, code, means: "rejected" } : { message, code };
}

/** https://polar.sh/docs/api-reference/subscriptions/update */
const DECLINED = new Set(["PaymentFailed", "PaymentActionRequired"]);

/** A canceled subscription or a disputed order is refused with the status of a key that may not do something. */
function isRefusedObject(status: number, code: string): boolean {
  const isNameOfError = /^[A-Z]/.test(code);
  return status === 403 && isNameOfError && code !== "NotPermitted";
}
