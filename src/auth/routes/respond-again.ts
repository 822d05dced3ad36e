import { retryOnContention } from "../../store/retry-on-contention.ts";
import { isContention } from "../../store/transaction.ts";
import type { RequestScope } from "../request-scope.ts";

/**
 * PostgreSQL may end a transaction of Better Auth for another one, such as a reset of the password for the
 * deletion of the account: nothing has happened, and the request is handled again.
 */
export function respondAgainOnContention(
  scope: RequestScope,
  respond: () => Promise<Response>,
): Promise<Response> {
  return retryOnContention(async () => {
    scope.failure = null;
    scope.newSessionToken = null;
    if (scope.newPassword) scope.newPassword.userId = null;
    try {
      const response = await respond();
      // Better Auth has swallowed it.
      if (isContention(scope.failure)) throw scope.failure;
      return response;
    } catch (error) {
      throw isContention(scope.failure) ? scope.failure : error;
    }
  });
}
