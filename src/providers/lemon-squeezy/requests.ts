import type { ConnectedProvider, ProviderError } from "../outbound/connected-provider.ts";
import type { Request } from "../outbound/request.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";

export function request(
  provider: ConnectedProvider,
  method: Request["method"],
  path: string,
  body?: object,
): Request {
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
    const words = textAt(body, "message");
    return words === null || status === 404 ? null : { message: words, code: null };
  }
  const pointers = errors.map((one) => textAt(one, "source", "pointer"));
  const words = errors.map((one, at) => {
    const detail = textAt(one, "detail") ?? textAt(one, "title") ?? "no reason given";
    return pointers[at] === null ? detail : `${detail} (${pointers[at]})`;
  });
  const refusal = { message: words.join("; "), code: textAt(errors[0], "code") };
  // Something in the request is unknown, such as a variant, rather than the requested object.
  return status === 404 && pointers.some(Boolean) ? { ...refusal, means: "rejected" } : refusal;
}
