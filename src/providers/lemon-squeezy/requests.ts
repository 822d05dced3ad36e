import type { ApiRequest } from "../outbound/api-request.ts";
import type { ConnectedProvider, ProviderError } from "../outbound/connected-provider.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";

export function request(
  provider: ConnectedProvider,
  method: ApiRequest["method"],
  path: string,
  body?: object,
): ApiRequest {
  return {
    method,
    path,
    headers: {
      authorization: `Bearer ${provider.apiKey}`,
      accept: "application/vnd.api+json",
      "content-type": "application/vnd.api+json",
      "user-agent": "tollgate",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // There are no idempotency keys: a repeated POST would open a second checkout.
    repeatable: method !== "POST",
  };
}

export function readLemonSqueezyError(status: number, body: unknown): ProviderError | null {
  const errors = listAt(body, "errors");
  if (errors.length === 0) {
    // The framework's own messages about keys and rates. With 404 they are about an unknown path.
    const message = textAt(body, "message");
    return message === null || status === 404 ? null : { message, code: null };
  }
  const pointers = errors.map((error) => textAt(error, "source", "pointer"));
  const messages = errors.map((error, at) => {
    const detail = textAt(error, "detail") ?? textAt(error, "title") ?? "no reason given";
    return pointers[at] === null ? detail : `${detail} (${pointers[at]})`;
  });
  const refusal = { message: messages.join("; "), code: textAt(errors[0], "code") };
  // Something in the request is unknown, such as a variant, rather than the requested object.
  return status === 404 && pointers.some(Boolean) ? { ...refusal, means: "rejected" } : refusal;
}
