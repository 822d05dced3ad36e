import { beforeAll, describe, expect, it } from "vitest";
import { type FollowOptions, followEvents } from "../../clients/typescript/src/follow-events.ts";
import { connectionOf } from "../../clients/typescript/src/options.ts";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { createServiceKey } from "../support/service-keys.ts";

const TIMING = { firstBackoffMs: 10, maxBackoffMs: 50, pollEveryMs: 20 };

const { test, server } = freshServer({ users: 2 });
let key: string;
beforeAll(async () => {
  ({ key } = await createServiceKey(test, { permissions: ["events:read"] }));
});

const withoutStreams: typeof fetch = async (input, init) => {
  if (String(input).endsWith("/stream")) throw new TypeError("fetch failed");
  return await fetch(input, init);
};

async function rename(userId: string): Promise<void> {
  await test.rows(`update "user" set name = name || '.' where id = $1`, [userId]);
  await eventually(() => test.rows("select from outbound_event where position is null"), []);
}

describe.each([
  ["streams", fetch],
  ["polls", withoutStreams],
])("a program that follows events by %s", (_name, sendRequest) => {
  const follow = (options: FollowOptions) =>
    followEvents(connectionOf({ url: server.url, key, fetch: sendRequest }), { timing: TIMING, ...options });

  /** Where events begin that start now, as the program stores it; it ends before the first one. */
  async function startAndStop(after: string | null): Promise<string> {
    const stop = new AbortController();
    const stored: string[] = [];
    const onStart = (id: string) => {
      stored.push(id);
      stop.abort();
    };
    for await (const event of follow({ after, onStart, signal: stop.signal })) expect(event).toBeNull();
    expect(stored).toEqual([expect.any(String)]);
    return stored[0] as string;
  }

  it.each([null, ""])("misses none while it is restarted before its first one (after: %j)", async (after) => {
    await rename("user_0");
    const stored = await startAndStop(after);
    await rename("user_1");
    const following = follow({ after: stored, onStart: () => expect.unreachable() });
    const { value: event } = await following.next();
    expect(event).toMatchObject({ type: "user.updated", data: { id: "user_1" } });
    await following.return(undefined);
  });
});
