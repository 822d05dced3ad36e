import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";

export type OutboundDelivery = {
  id: string;
  eventId: string;
  eventType: OutboundEventType;
  status: "pending" | "delivered" | "failed";
  createdAt: Date;
  completedAt: Date | null;
  /** `null`: it waits for an earlier event, or is done. */
  nextAttemptAt: Date | null;
  attempts: {
    attempt: number;
    at: Date;
    durationMs: number;
    responseStatus: number | null;
    error: string | null;
  }[];
};

const LIST = {
  name: "list_outbound_deliveries",
  text: `
select d.id::text, d.event_id as "eventId", d.event_type as "eventType", d.status, d.created_at as "createdAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt",
  coalesce((
    select json_agg(json_build_object('attempt', a.attempt, 'at', a.at, 'durationMs', a.duration_ms,
      'responseStatus', a.response_status, 'error', a.error) order by a.attempt)
    from outbound_attempt a where a.delivery_id = d.id
  ), '[]') as attempts
from outbound_delivery d
where d.endpoint_id = $1::uuid and ($2::bigint is null or d.id < $2::bigint) and ($4::text is null or d.status = $4)
order by d.id desc limit $3::int`,
};

type ListedAttempt = Omit<OutboundDelivery["attempts"][number], "at"> & { at: string };

type ListedRow = Omit<OutboundDelivery, "attempts"> & { attempts: ListedAttempt[] };

/** An endpoint's deliveries, the newest first, with every attempt. */
export async function listOutboundDeliveries(
  database: Queryable,
  endpointId: string,
  { before, limit, status }: { before: string | null; limit: number; status: string | null },
): Promise<OutboundDelivery[]> {
  const rows = await database.run<ListedRow>(LIST, [endpointId, before, limit, status]);
  return rows.map(({ attempts, ...row }) => ({
    ...row,
    attempts: attempts.map((attempt) => ({ ...attempt, at: new Date(attempt.at) })),
  }));
}
