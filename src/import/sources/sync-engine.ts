import type { Slot } from "../../domain/slot.ts";
import type { Intake } from "../../intake/intake.ts";
import type { Queryable } from "../../store/database.ts";
import type { Mapping } from "../mapping.ts";
import type { Source } from "../run-import.ts";
import { readState, type SubscriptionRow } from "../subscription-row.ts";
import {
  column,
  type ForeignRow,
  quoted,
  readForeignTable,
  textColumn,
  timeColumn,
} from "./foreign-table.ts";
import { identityOf } from "./provider.ts";

export type SyncEngine = { database: Queryable; url: string; schema: string };

/**
 * The tables of Stripe's (before: Supabase's) sync engine. Newer versions keep the whole object in
 * `_raw_data`, older ones a column for each of its fields, and its items in a table of their own as well.
 */
export function syncEngineSubscriptions(
  intake: Pick<Intake, "adapters">,
  slot: Slot,
  { database, url, schema }: SyncEngine,
  mapping: Mapping,
): Source<SubscriptionRow> {
  const adapter = intake.adapters.of("stripe");
  const table = `${quoted(schema)}."subscriptions"`;
  return {
    identity: ["subscriptions", slot, "sync-engine", url, schema, identityOf(mapping)],
    read: async (position) => {
      const page = await readForeignTable(database, table, position, (row) => row);
      const related = await readRelated(database, schema, page.rows.map(objectOf), mapping);
      const rows = page.rows.map((row): SubscriptionRow => {
        const object = objectOf(row);
        const id = textColumn(object, "id");
        const items = column(object, "items") ?? { data: related.items.get(id ?? "") ?? [] };
        const customerId = textColumn(object, "customer");
        return {
          providerSubscriptionId: id,
          ...readState(adapter, { data: { object: { ...object, items } } }),
          email: related.emails.get(customerId ?? "") ?? null,
          readAtMicros: readAt(row),
        };
      });
      return { rows, next: page.next };
    },
  };
}

function objectOf(row: ForeignRow): ForeignRow {
  return typeof row._raw_data === "object" && row._raw_data !== null ? (row._raw_data as ForeignRow) : row;
}

function readAt(row: ForeignRow): number | null {
  const at = timeColumn(row, "_last_synced_at", "last_synced_at", "_updated_at", "updated_at");
  return at === null ? null : at.getTime() * 1000;
}

type Related = { items: Map<string, object[]>; emails: Map<string, string> };

/** What the subscriptions' own rows may lack. */
async function readRelated(
  database: Queryable,
  schema: string,
  objects: readonly ForeignRow[],
  mapping: Mapping,
): Promise<Related> {
  const related: Related = { items: new Map(), emails: new Map() };
  const withoutItems = objects.filter((object) => column(object, "items") === null);
  if (withoutItems.length > 0) {
    const ids = withoutItems.map((object) => textColumn(object, "id"));
    for (const item of await byColumn(
      database,
      `${quoted(schema)}."subscription_items"`,
      "subscription",
      ids,
    )) {
      if (item.deleted === true) continue;
      const id = textColumn(item, "subscription") ?? "";
      const price = column(item, "price");
      const itemWithPrice = { ...item, price: typeof price === "string" ? { id: price } : price };
      related.items.set(id, [...(related.items.get(id) ?? []), itemWithPrice]);
    }
  }
  if (mapping.emails.size > 0) {
    const ids = objects.map((object) => textColumn(object, "customer"));
    for (const customer of await byColumn(database, `${quoted(schema)}."customers"`, "id", ids)) {
      const [id, email] = [textColumn(customer, "id"), textColumn(customer, "email")];
      if (id !== null && email !== null) related.emails.set(id, email);
    }
  }
  return related;
}

async function byColumn(
  database: Queryable,
  table: string,
  name: string,
  values: readonly (string | null)[],
): Promise<ForeignRow[]> {
  const text = `select to_jsonb(t) as row from ${table} t where t.${quoted(name)} = any ($1::text[])`;
  const statement = { name: `find in ${table} by ${name}`.slice(0, 60), text };
  const rows = await database.run<{ row: ForeignRow }>(statement, [values.filter((value) => value !== null)]);
  return rows.map(({ row }) => objectOf(row));
}
