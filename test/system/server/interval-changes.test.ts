import { afterEach, expect, it } from "vitest";
import { cleanUp } from "../../support/cleanup.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { startProviderContext } from "./provider-context.ts";

afterEach(cleanUp);

it("gives nobody new quotas again and again for an interval that is changed to and fro", async () => {
  const context = await startProviderContext("stripe");
  const { server, post, sim, test, buy, waitUntilEqual } = context;
  const person = await createUser(test);
  await buy(person, { planId: "pro", seats: 1 });
  await waitUntilEqual(person);
  const [subscription] = await test.rows<{ id: string }>("select id from subscription");
  const { key } = await createServiceKey(test, { limit: 1_000 });
  let used = 0;
  const spendAll = async () => {
    const body = { user: person.id, feature: "events", amount: 100_000, idempotencyKey: `${used++}` };
    return (await sendRequest(server.url, "POST", "/api/usage", { key, body })).status;
  };
  // The provider's new state is stored before the response, whatever the event of the change says later.
  const change = async (input: object) =>
    (await post(`/api/subscriptions/${subscription?.id}/change`, person, input)).status;

  expect([await spendAll(), await spendAll()]).toEqual([200, 409]);
  expect(await change({ interval: "year", when: "now" })).toBe(200);
  expect([await spendAll(), await spendAll()]).toEqual([200, 409]);
  // Within a second of each other, two periods of a year end together, and share their quotas.
  for (const interval of ["month", "year"]) expect(await change({ interval, when: "now" })).toBe(200);
  // What is left of the year would be credited, whatever has been used, and would pay for any number of further changes.
  const paid = sim.payments("provider-a");
  expect(await change({ interval: "month", when: "now", preview: true })).toBe(409);
  expect(await change({ interval: "month", when: "now" })).toBe(409);
  expect(sim.payments("provider-a")).toEqual(paid);
  // What costs what it gives can still be changed, and the interval for the next period.
  expect(await change({ seats: 2, when: "now" })).toBe(200);
  expect(await change({ interval: "month", when: "period_end" })).toBe(200);
  await test.rows("update interval_change set changed_at = changed_at - interval '30 days'");
  expect(await change({ interval: "month", when: "now" })).toBe(200);
});
