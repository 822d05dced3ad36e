import type { Queryable } from "../database.ts";
import type { Written } from "./written-events.ts";

const TAKE_SETS = {
  name: "take_outbound_change_sets",
  text: "delete from outbound_change_set where seq = any ($1::bigint[])",
};

const TAKE_CHANGES = {
  name: "take_outbound_changes",
  text: "delete from outbound_change where seq = any ($1::bigint[])",
};

const DROP_EVENTS = {
  name: "drop_written_outbound_events",
  text: "delete from outbound_event where seq = any ($1::bigint[]) and position is null",
};

const REMOVE = { set: TAKE_SETS, change: TAKE_CHANGES, event: DROP_EVENTS };

/** Removes what has become events of its own, and events that turned out to report no change. */
export function removeWritten(
  transaction: Queryable,
  removable: readonly Pick<Written, "kind" | "seq">[],
): Promise<unknown>[] {
  return (["set", "change", "event"] as const).flatMap((kind) => {
    const seqs = new Set(removable.flatMap((written) => (written.kind === kind ? written.seq : [])));
    return seqs.size > 0 ? [transaction.run(REMOVE[kind], [[...seqs]])] : [];
  });
}
