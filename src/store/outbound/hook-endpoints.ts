import type { Queryable } from "../database.ts";
import { SENDING_TIME } from "./sending-time.ts";

const REGISTER = {
  name: "register_hooks",
  text: `
insert into event_endpoint (hook, types, hook_seen_at)
select name, $2::text[], clock_timestamp() from unnest($1::text[]) as given (name) order by name
on conflict (hook) do update set types = excluded.types, hook_seen_at = excluded.hook_seen_at`,
};

/**
 * Registers plugins' hooks, which then get deliveries like endpoints. To be repeated while this process has
 * them.
 */
export async function registerHooks(
  database: Queryable,
  names: readonly string[],
  types: readonly string[],
): Promise<void> {
  await database.run(REGISTER, [names, types]);
}

const DROP = {
  name: "drop_unseen_hooks",
  text: `
delete from event_endpoint
where hook is not null and coalesce(hook_seen_at, created_at) < clock_timestamp() - ${SENDING_TIME}
returning id`,
};

/** Drops the hooks of plugins that no process has had for as long as events are sent, with their deliveries. */
export async function dropUnseenHooks(database: Queryable): Promise<void> {
  await database.run(DROP);
}
