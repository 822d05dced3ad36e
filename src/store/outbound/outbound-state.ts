import type { Queryable } from "../database.ts";
import { SENDING_TIME } from "./sending-time.ts";

export type OutboundState = {
  /** Those that are enabled. */
  endpoints: number;
  /** Enabled, and every attempt of the last hour or longer has failed. */
  failing: number;
  /** Disabled because of their failures; not those that were paused. */
  disabled: number;
  /**
   * How long the oldest event has waited for an enabled endpoint or hook, failures included, since it happened
   * or was replayed; 0: none waits.
   */
  backlogSeconds: number;
  /** Changes that were set aside because they could not be read. */
  unreadableChanges: number;
  /** Events of packs that could not be read, which lists and streams leave out. */
  unreadableEvents: number;
};

// The row of a hook counts for the backlog alone: it is never disabled. What is replayed is given its
// time anew.
const STATE = {
  name: "outbound_state",
  text: `
select
  (count(*) filter (where p.enabled and p.url is not null))::int as endpoints,
  (count(*) filter (where p.enabled and p.url is not null
    and p.failing_since < clock_timestamp() - interval '1 hour'))::int as failing,
  (count(*) filter (where not p.enabled and p.disabled_at is not null))::int as disabled,
  coalesce(extract(epoch from clock_timestamp() - least(
    min((
      select min(greatest(d.created_at, d.give_up_at - ${SENDING_TIME})) from outbound_delivery d
      where d.endpoint_id = p.id and d.status = 'pending' and p.enabled
    )),
    (
      select e.occurred_at from outbound_event e
      where e.position is null and e.seq > (select relayed_up_to from outbound_relay where only_one)
      order by e.seq limit 1
    ),
    (
      select to_timestamp(c.occurred_at[1]) from outbound_change_set c
      where c.seq > (select relayed_up_to from outbound_relay where only_one)
      order by c.seq limit 1
    )
  )), 0)::float8 as "backlogSeconds",
  coalesce((select sum(changes_count) from outbound_unreadable_set), 0)::int as "unreadableChanges",
  coalesce((
    select sum(last_position - first_position + 1)
    from outbound_unreadable_pack join outbound_event_pack using (last_position)
  ), 0)::int as "unreadableEvents"
from event_endpoint p`,
};

export async function outboundState(database: Queryable): Promise<OutboundState> {
  const [row] = await database.run<OutboundState>(STATE);
  const { backlogSeconds, ...counts } = row as OutboundState;
  return { ...counts, backlogSeconds: Math.max(0, backlogSeconds) };
}
