import { isDeepStrictEqual } from "node:util";
import { BrokenMeasurement } from "../shared/broken.ts";
import type { ApiServer } from "./contenders.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";
import { type Person, revokeSession } from "./population.ts";
import type { Read } from "./reads.ts";
import { bodyOf, headersOf } from "./requests.ts";

export const PAGE_LENGTH = 10;

type Asking = { read: Read; port: number; credentials: Credentials };

/** @throws BrokenMeasurement unless it is the person's own list, whole and in order */
export async function assertOwnList(asking: Asking, person: Person): Promise<void> {
  const { said, text } = await ask(asking, PAGE_LENGTH);
  if (isDeepStrictEqual(said, { items: person.lists[asking.read.list], nextCursor: null })) return;
  throw new BrokenMeasurement(`${person.userId} was answered ${text}`);
}

/** That there is a gate to measure: who is not signed in, asks for nonsense, or is no longer signed in, is refused. */
export async function assertGate(
  server: ApiServer,
  port: number,
  { databaseUrl, person }: { databaseUrl: string; person: Person },
): Promise<void> {
  if (server.presents === "user id") return;
  const credentials = await credentialsOf(server, port, person);
  const forged = { cookie: `${credentials.cookie}`.replace(/session_token=./, "session_token=_") };
  const asking = { read: server.read, port, credentials };
  await assertRefused({ ...asking, credentials: {} }, PAGE_LENGTH, "unauthorized");
  await assertRefused({ ...asking, credentials: forged }, PAGE_LENGTH, "unauthorized");
  await assertRefused(asking, 0, "invalid_input");
  await assertCounted(asking);
  await revokeSession(databaseUrl, person);
  if (server.revokes === "at once") await assertRefused(asking, PAGE_LENGTH, "unauthorized");
  else await assertOwnList(asking, person);
}

async function assertCounted(asking: Asking): Promise<void> {
  const first = await ask(asking, PAGE_LENGTH);
  const second = await ask(asking, PAGE_LENGTH);
  if (first.remaining > 0 && second.remaining === first.remaining - 1) return;
  throw new BrokenMeasurement(`calls are not counted: ${first.remaining} left, then ${second.remaining}`);
}

async function assertRefused(
  asking: Asking,
  limit: number,
  expected: "unauthorized" | "invalid_input",
): Promise<void> {
  const { said, text } = await ask(asking, limit);
  if ("refused" in said && said.refused === expected) return;
  throw new BrokenMeasurement(`expected a refusal, ${expected}, was answered ${text}`);
}

async function ask({ read, port, credentials }: Asking, limit: number) {
  const question = read.request(limit);
  const answer = await fetch(`http://127.0.0.1:${port}${question.path}`, {
    method: question.method,
    headers: { ...headersOf(question), ...credentials },
    body: bodyOf(question) ?? null,
    signal: AbortSignal.timeout(10_000),
  });
  const { status } = answer;
  const text = await answer.text();
  return {
    said: read.understand({ status, text }),
    text: `${status} ${text}`,
    remaining: Number(answer.headers.get("x-ratelimit-remaining") ?? Number.NaN),
  };
}

/** That a page is served, and with it loaded what pages need. */
export async function assertPage(port: number, path: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
  const text = await answer.text();
  if (answer.status === 200 && text.includes("</html>")) return;
  throw new BrokenMeasurement(
    `expected a page at ${path}, was answered ${answer.status} ${text.slice(0, 500)}`,
  );
}
