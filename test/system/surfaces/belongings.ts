import type { TestDatabase } from "../../support/database.ts";
import type { TestData } from "./test-data.ts";

// biome-ignore lint/suspicious/noExplicitAny: rows of every table
export type Belongings = any;

/** Everything that is kept of a testData: what a call has changed is seen by comparing. */
export async function belongingsOf(
  test: Pick<TestDatabase, "rows">,
  { people, applied, failed }: TestData,
): Promise<Belongings> {
  const { owner, other, admin } = people;
  const [row] = await test.rows<{ all: Belongings }>(BELONGINGS, [
    ["owner", "other", "admin"],
    [owner.id, other.id, admin.id],
    [applied, failed],
  ]);
  return row?.all;
}

const BELONGINGS = `
select jsonb_build_object(
  'deliveries', (
    select jsonb_agg(to_jsonb(d) || jsonb_build_object('log', (
      select jsonb_agg(to_jsonb(a) - 'duration_ms' order by claim_no) from webhook_attempts a where a.delivery_id = d.id
    )) order by d.id) from webhook_delivery d where d.id = any ($3::bigint[])),
  'people', (
    select jsonb_object_agg(p.name, jsonb_build_object(
      'person', (select to_jsonb(u) from "user" u where u.id = p.id),
      'isGone', exists (select from deleted_user g where g.id = p.id),
      'sessions', (select count(*) from session s where s.user_id = p.id),
      'keys', (select jsonb_agg(to_jsonb(k) - 'hash' - 'last_used_at' order by k.created_at, k.id)
        from api_key k where k.user_id = p.id),
      'subscriptions', (select jsonb_agg(to_jsonb(s) order by s.created_at)
        from subscription s where s.user_id = p.id or s.provider_subscription_id like p.id || '%'),
      'notifications', (select jsonb_agg(to_jsonb(n) order by n.id) from notification n where n.user_id = p.id)
    )) from unnest($1::text[], $2::text[]) as p (name, id))
) as all`;

/**
 * A value in which everything that differs from testData to testData, or from one moment to the next, has a name instead: for
 * comparing what two calls have done in two casts.
 */
export function masked(value: unknown, testData: TestData): unknown {
  const names = new Map<string, string>();
  for (const [name, { id, email }] of Object.entries(testData.people)) {
    names.set(id, `<${name}>`).set(email, `<${name}'s address>`);
  }
  for (const name of [
    "applied",
    "failed",
    "notificationId",
    "subscriptionId",
    "spareKeyId",
    "endpointId",
  ] as const) {
    names.set(testData[name], `<${name}>`);
  }
  return JSON.parse(JSON.stringify(value ?? null), (key, part) => {
    const known = names.get(String(part));
    if (known !== undefined && (typeof part === "string" || /id$/.test(key))) return known;
    if (typeof part === "number")
      return key === "id" || key === "durationMs" || key.endsWith("_micros") ? "<a number>" : part;
    if (typeof part !== "string") return part;
    return part
      .replace(/^\d{4}-\d\d-\d\dT.*$/, "<a time>")
      .replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "<an id>")
      .replace(/^tg_\w+$/, "<a key>")
      .replace(/^whsec_.+$/, "<a secret>")
      .replace(/^evt_test_\w+$/, "<an event>")
      .replaceAll(/cast-\d+/g, "<testData>");
  });
}
