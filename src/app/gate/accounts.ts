import { cookies } from "next/headers";
import { type RefusalCode, refuse } from "../../domain/refusal.ts";
import { type Call, charge } from "../../operations/operation.ts";
import { givenCookie } from "./given-cookie.ts";
import type { PageRequest } from "./page-request.ts";
import { currentRequest } from "./request.ts";
import { withLimitHeaders } from "./with-limit-headers.ts";

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
  const answer = await withLimitHeaders(call, async () => {
    if (scope !== null) await charge(scope, deps.limits, call);
    return said(await accounts.handle(requestTo(new URL(pathname, appUrl), body, header), address));
  });

  const jar = await cookies();
  for (const text of answer.cookies) jar.set(givenCookie(text));
  return answer.body;
}

function requestTo(url: URL, body: Record<string, unknown>, header: PageRequest["header"]): Request {
  return new Request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      cookie: header("cookie") ?? "",
      "user-agent": header("user-agent") ?? "",
    },
    body: JSON.stringify(body),
  });
}

async function said(answer: Response): Promise<{ body: unknown; cookies: string[] }> {
  const body = (await answer.json().catch(() => null)) as { error?: string } | null;
  if (!answer.ok) refuse(CODES[answer.status] ?? "invalid_input", body?.error ?? "");
  return { body, cookies: answer.headers.getSetCookie() };
}

const CODES: Record<number, RefusalCode> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  503: "unavailable",
};
