import { createHash } from "node:crypto";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";

export type ProviderKey = { slot: Slot; apiKey: string };

const RECORD = {
  name: "record_provider_key",
  text: `
with former as (
  delete from provider_key where provider = $1 and hash <> $2::bytea and first_used_at < now() - interval '2 years'
)
insert into provider_key (provider, hash) values ($1, $2::bytea) on conflict do nothing`,
};

/** Records since when a key has been in use, so that doctor can tell when it expires. */
export async function recordProviderKey(database: Queryable, key: ProviderKey): Promise<void> {
  await database.run(RECORD, [key.slot, hashOf(key)]);
}

const FIND = {
  name: "provider_key_first_used",
  text: 'select first_used_at as "firstUsedAt" from provider_key where provider = $1 and hash = $2::bytea',
};

/** `null`: no server has been started with it yet. */
export async function providerKeyFirstUsedAt(database: Queryable, key: ProviderKey): Promise<Date | null> {
  const [row] = await database.run<{ firstUsedAt: Date }>(FIND, [key.slot, hashOf(key)]);
  return row?.firstUsedAt ?? null;
}

function hashOf({ apiKey }: ProviderKey): string {
  return `\\x${createHash("sha256").update(apiKey).digest("hex")}`;
}
