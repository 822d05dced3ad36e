import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * An id as a segment of a path. All providers' ids consist of these characters; others could change the
 * path.
 * @throws PaymentApiProblem
 */
export function pathSegment(provider: ConnectedProvider, id: string): string {
  if (/^[\w-]{1,255}$/.test(id)) return id;
  throw problem(provider, "missing", "no id of this provider's has such characters");
}
