import { cookies } from "next/headers";
import type { AccountCallResult } from "../../domain/callers/account-call.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { type Call, charge } from "../../operations/call.ts";
import { currentRequest } from "./request.ts";
import { withLimitHeaders } from "./with-limit-headers.ts";

/**
 * Calls a route below `/api/auth` for a server action, limited by address as over HTTP, and sends its cookies
 * with the action's response.
 * @param path below `/api/auth`, e.g. `/sign-in/email`
 * @param body the body of a POST, the query of a GET
 * @returns the body of the response
 * @throws Refusal
 */
export async function callAccounts(
  path: string,
  body: Record<string, unknown>,
  method: "GET" | "POST" = "POST",
): Promise<Record<string, unknown>> {
  const { accounts, address, deps, header } = await currentRequest();
  const scope = accounts.scopeOf(method, `/api/auth${path}`);
  const call: Call = { caller: { kind: "anonymous", address }, charges: [] };
  const result = await withLimitHeaders(call.charges, async () => {
    if (scope !== null) await charge(scope, deps.limits, call);
    return throwRefusal(await accounts.call({ method, path, body, header, address }));
  });

  const jar = await cookies();
  for (const { name, value, options } of result.cookies) jar.set(name, value, options);
  return result.body ?? {};
}

function throwRefusal(result: AccountCallResult): AccountCallResult {
  if (result.refusal !== null) throw result.refusal;
  if (result.status >= 400) refuse({ reason: "invalid_input", params: { problem: "invalid" } });
  return result;
}
