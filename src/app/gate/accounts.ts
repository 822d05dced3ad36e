import { cookies } from "next/headers";
import { type RefusalCode, refuse } from "../../domain/refusal.ts";
import { type Call, charge } from "../../operations/operation.ts";
import type { AccountsResult } from "./page-request.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";
import { withLimitHeaders } from "./with-limit-headers.ts";

/**
 * Calls a route below `/api/auth` for a server action, limited by address as over HTTP, and sends its cookies with the
 * action's response.
 * @param path below `/api/auth`, e.g. `/sign-in/email`
 * @returns the body of the response
 * @throws Refusal with the sentence of `/api/auth`
 */
export async function callAccounts(
  path: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { accounts, address, deps, header } = currentRequest();
  const scope = accounts.scopeOf("POST", `/api/auth${path}`);
  const call: Call = { caller: { kind: "nobody", address }, charges: [] };
  const result = await withLimitHeaders(call, async () => {
    if (scope !== null) await charge(scope, deps.limits, call);
    return refuseErrors(await accounts.call({ path, body, header, address }));
  });

  const jar = await cookies();
  for (const { name, value, options } of result.cookies) jar.set(name, value, options);
  return result.body ?? {};
}

function refuseErrors(result: AccountsResult): AccountsResult {
  if (result.status < 400) return result;
  try {
    refuse(CODES[result.status] ?? "invalid_input", String(result.body?.error ?? ""));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal && result.retryAfterSeconds !== null) refusal.retryAfterSeconds = result.retryAfterSeconds;
    throw error;
  }
}

const CODES: Record<number, RefusalCode> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  429: "rate_limited",
  503: "unavailable",
};
