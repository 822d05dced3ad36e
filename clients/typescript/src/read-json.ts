import { readRetryAfter } from "./retry-delay.ts";
import { TollgateError } from "./tollgate-error.ts";

/** The body of a response. @throws TollgateError for what is no JSON: another program or a proxy has answered */
export async function readJson<Body>(response: Response): Promise<Body> {
  try {
    return (await response.json()) as Body;
  } catch (cause) {
    const { ok, status, headers } = response;
    const message = ok
      ? `What answered ${status} is not Tollgate: check its address`
      : `The server answered ${status}`;
    throw new TollgateError(message, {
      status,
      reason: `status_${status}`,
      retryAfterSeconds: readRetryAfter(headers),
      requestId: headers.get("x-request-id"),
      cause,
    });
  }
}
