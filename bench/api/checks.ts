import { isDeepStrictEqual } from "node:util";
import { BrokenMeasurement } from "../shared/broken.ts";
import type { ApiServer } from "./contenders.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";
import { type Person, revokeSession } from "./population.ts";
import type { Read } from "./reads.ts";
import { bodyOf, headersOf } from "./requests.ts";

export const PAGE_LENGTH = 10;

type ReadTarget = { read: Read; port: number; credentials: Credentials };

/** @throws BrokenMeasurement unless it is the person's own list, whole and in order */
export async function assertOwnList(target: ReadTarget, person: Person): Promise<void> {
  const { parsed, text } = await sendRead(target, PAGE_LENGTH);
  if (isDeepStrictEqual(parsed, { items: person.lists[target.read.list], nextCursor: null })) return;
  throw new BrokenMeasurement(`${person.userId} got ${text}`);
}

/**
 * That there is a gate to measure: who is not signed in, asks for nonsense, or is no longer signed in, is
 * refused.
 */
export async function assertGate(
  server: ApiServer,
  port: number,
  { databaseUrl, person }: { databaseUrl: string; person: Person },
): Promise<void> {
  if (server.presents === "user id") return;
  const credentials = await credentialsOf(server, port, person);
  const forged = { cookie: `${credentials.cookie}`.replace(/session_token=./, "session_token=_") };
  const target = { read: server.read, port, credentials };
  await assertRefused({ ...target, credentials: {} }, PAGE_LENGTH, "unauthorized");
  await assertRefused({ ...target, credentials: forged }, PAGE_LENGTH, "unauthorized");
  await assertRefused(target, 0, "invalid_input");
  await assertCounted(target);
  await revokeSession(databaseUrl, person);
  if (server.revokes === "at once") await assertRefused(target, PAGE_LENGTH, "unauthorized");
  else await assertOwnList(target, person);
}

async function assertCounted(target: ReadTarget): Promise<void> {
  const first = await sendRead(target, PAGE_LENGTH);
  const second = await sendRead(target, PAGE_LENGTH);
  if (first.remaining > 0 && second.remaining === first.remaining - 1) return;
  throw new BrokenMeasurement(`calls are not counted: ${first.remaining} left, then ${second.remaining}`);
}

async function assertRefused(
  target: ReadTarget,
  limit: number,
  expected: "unauthorized" | "invalid_input",
): Promise<void> {
  const { parsed, text } = await sendRead(target, limit);
  if ("refused" in parsed && parsed.refused === expected) return;
  throw new BrokenMeasurement(`expected a refusal, ${expected}, got ${text}`);
}

async function sendRead({ read, port, credentials }: ReadTarget, limit: number) {
  const request = read.request(limit);
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: request.method,
    headers: { ...headersOf(request), ...credentials },
    body: bodyOf(request) ?? null,
    signal: AbortSignal.timeout(10_000),
  });
  const { status } = response;
  const text = await response.text();
  return {
    parsed: read.parseResponse({ status, text }),
    text: `${status} ${text}`,
    remaining: Number(response.headers.get("x-ratelimit-remaining") ?? Number.NaN),
  };
}

/** That a page is served, and with it loaded what pages need. */
export async function assertPage(port: number, path: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  if (response.status === 200 && text.includes("</html>")) return;
  throw new BrokenMeasurement(`expected a page at ${path}, got ${response.status} ${text.slice(0, 500)}`);
}
