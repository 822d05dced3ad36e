import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnServer } from "../support/server-process.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(1);
const METRICS_TOKEN = "a-token-of-sixteen-or-more";

it("reports outbound events that are lost to a receiver, in the log and in the metrics", async () => {
  await test.rows(
    `insert into outbound_change_set (changes_count, occurred_at, created_at, changes)
     values (1, array[date_part('epoch', now())], array[date_part('epoch', now())], '?')`,
  );
  // To an address that may not be reached, on its last attempt.
  await test.rows(
    `with endpoint as (
       insert into event_endpoint (url, secret, types) values ('http://127.0.0.1:9', 'whsec_c2VjcmV0', '{user.updated}')
       returning id
     )
     insert into outbound_delivery (endpoint_id, event_id, event_type, subject, next_attempt_at, give_up_at)
     select id, 'evt_1', 'user.updated', 'user_1', now(), now() from endpoint`,
  );
  const server = await spawnServer(test.url, { METRICS_TOKEN });
  const hasLogged = (text: string) => server.lines.some((line) => line.includes(text));
  await eventually(async () => hasLogged("outbound changes could not be read and were set aside"), true);
  await eventually(async () => hasLogged("an outbound event was given up"), true);
  const response = await fetch(`${server.url}/api/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const metrics = await response.text();
  expect(metrics).toContain("\ntollgate_outbound_deliveries_given_up_total 1\n");
  expect(metrics).toContain("\ntollgate_outbound_changes_unreadable 1\n");
  await server.end("SIGTERM");
});
