import { beforeEach, expect, it } from "vitest";
import {
  deleteEndpoint,
  findEndpoint,
  findEndpointTarget,
  insertEndpoint,
  listEndpoints,
  updateEndpoint,
} from "../../../src/store/outbound/event-endpoints.ts";
import { dropUnseenHooks, registerHooks } from "../../../src/store/outbound/hook-endpoints.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
beforeEach(() => test.rows("delete from event_endpoint"));

const register = (...hooks: string[]) => registerHooks(test.database, hooks, ["user.created"]);

const addEndpoint = () =>
  insertEndpoint(test.database, {
    url: "https://example.com/hook",
    types: ["user.created"],
    description: null,
    secret: "whsec_x",
    createdBy: null,
  });

it("registers a hook again with the types that this release has", async () => {
  await register("crm");
  const types = ["user.created", "user.updated"];
  await registerHooks(test.database, ["crm"], types);
  expect(await test.rows("select hook, types from event_endpoint")).toEqual([{ hook: "crm", types }]);
});

it("drops hooks that no process has registered for days, and never an endpoint", async () => {
  await addEndpoint();
  await register("in use", "seen lately", "unseen", "of an earlier release");
  const age = (column: string, days: number, hook: string | null) =>
    test.rows(
      `update event_endpoint set ${column} = now() - $1::int * interval '1 day' where hook is not distinct from $2`,
      [days, hook],
    );
  for (const hook of ["in use", "seen lately", "unseen", "of an earlier release", null])
    await age("created_at", 100, hook);
  for (const hook of ["in use", "unseen"]) await age("hook_seen_at", 6, hook);
  await age("hook_seen_at", 4, "seen lately");
  await test.rows("update event_endpoint set hook_seen_at = null where hook = 'of an earlier release'");
  await register("in use");

  await dropUnseenHooks(test.database);
  expect(await test.rows("select hook from event_endpoint order by hook")).toEqual([
    { hook: "in use" },
    { hook: "seen lately" },
    { hook: null },
  ]);
});

it("neither shows, changes nor deletes a hook as an endpoint", async () => {
  const { id: endpointId } = await addEndpoint();
  await register("crm");
  const [hook] = await test.rows<{ id: string }>("select id from event_endpoint where hook is not null");
  const id = hook?.id as string;
  const listed = await listEndpoints(test.database, { after: null, limit: 10 });
  expect(listed.map((endpoint) => endpoint.id)).toEqual([endpointId]);
  expect(await findEndpoint(test.database, id)).toBeNull();
  expect(await findEndpointTarget(test.database, id)).toBeNull();
  expect(await updateEndpoint(test.database, id, { enabled: false })).toBeNull();
  expect(await deleteEndpoint(test.database, id)).toBe(false);
  expect(await test.rows("select enabled from event_endpoint where hook = 'crm'")).toEqual([
    { enabled: true },
  ]);
});
