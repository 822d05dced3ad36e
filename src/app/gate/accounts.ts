import { cookies } from "next/headers";
import { type RefusalCode, refuse } from "../../domain/refusal.ts";
import { type Call, charge } from "../../operations/operation.ts";
import { givenCookie } from "./given-cookie.ts";
import { currentRequest } from "./request.ts";
import { withWait } from "./wait.ts";

/**
 * Signing up, in and out, and passwords: as `/api/auth` does it, limited by address as there, for actions. What it gives out as
 * cookies goes out with the action's answer.
 * @param path below `/api/auth`
 * @throws Refusal with Better Auth's sentence
 */
export async function askAccounts(path: string, body: Record<string, unknown>): Promise<unknown> {
  const { accounts, address, appUrl, deps, header } = currentRequest();
  const pathname = `/api/auth${path}`;
  const scope = accounts.scopeOf("POST", pathname);
  const call: Call = { caller: { kind: "nobody", address }, charges: [] };
  if (scope !== null) await withWait(call, () => charge(scope, deps.limits, call));

  const request = new Request(new URL(pathname, appUrl), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      cookie: header("cookie") ?? "",
      "user-agent": header("user-agent") ?? "",
    },
    body: JSON.stringify(body),
  });
  const answer = await accounts.handle(request, address);
  const said = (await answer.json().catch(() => null)) as { error?: string } | null;
  if (!answer.ok) refuse(CODES[answer.status] ?? "invalid_input", said?.error ?? "");

  const jar = await cookies();
  for (const text of answer.headers.getSetCookie()) jar.set(givenCookie(text));
  return said;
}

const CODES: Record<number, RefusalCode> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  503: "unavailable",
};
