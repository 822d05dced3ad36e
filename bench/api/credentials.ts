import { BrokenMeasurement } from "../shared/broken.ts";
import type { ApiServer } from "./contenders.ts";
import type { Person } from "./population.ts";

/** The request headers that say who is asking. */
export type Credentials = Record<string, string>;

/** @throws BrokenMeasurement when the server gives out no copy of the session */
export async function credentialsOf(
  { presents }: ApiServer,
  port: number,
  { userId, sessionCookie }: Person,
): Promise<Credentials> {
  if (presents === "user id") return { "x-user-id": userId };
  if (presents === "cookie") return { cookie: sessionCookie };
  return { cookie: `${sessionCookie}; ${await copyOfSession(port, sessionCookie)}` };
}

/**
 * Better Auth puts the whole session into a second cookie when it is asked for the session; then it believes
 * that one.
 */
async function copyOfSession(port: number, cookie: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/auth/get-session`, { headers: { cookie } });
  await answer.arrayBuffer();
  const copy = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("better-auth.session_data="));
  if (copy === undefined) throw new BrokenMeasurement(`no copy of the session: ${answer.status}`);
  return copy.split(";")[0] as string;
}
