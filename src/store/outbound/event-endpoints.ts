import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { type ListPosition, microsOf, positionParameters, timeOf } from "../list-position.ts";

export type EventEndpoint = {
  id: string;
  url: string;
  types: OutboundEventType[];
  description: string | null;
  enabled: boolean;
  createdAt: Date;
  /** Since when every attempt at this address has failed; `null`: the last one succeeded. */
  failingSince: Date | null;
  /** When it was disabled because of its failures. */
  disabledAt: Date | null;
};

const COLUMNS = `id, url, types, description, enabled, created_at as "createdAt", failing_since as "failingSince",
  disabled_at as "disabledAt"`;

const INSERT = {
  name: "insert_event_endpoint",
  text: `
insert into event_endpoint (url, types, description, secret, created_by) values ($1, $2::text[], $3, $4, $5)
returning ${COLUMNS}`,
};

export async function insertEndpoint(
  database: Queryable,
  endpoint: {
    url: string;
    types: readonly string[];
    description: string | null;
    secret: string;
    createdBy: string | null;
  },
): Promise<EventEndpoint> {
  const { url, types, description, secret, createdBy } = endpoint;
  const [row] = await database.run<EventEndpoint>(INSERT, [url, types, description, secret, createdBy]);
  return row as EventEndpoint;
}

const LIST = {
  name: "list_event_endpoints",
  text: `
select ${COLUMNS}, ${microsOf("created_at")} as "atMicros" from event_endpoint
where url is not null and ($1::bigint is null
  or (created_at, id) > (${timeOf("$1::bigint")}, $2::uuid))
order by created_at, id limit $3::int`,
};

/** Oldest first. Hooks of plugins are left out. */
export async function listEndpoints(
  database: Queryable,
  { after, limit }: { after: ListPosition | null; limit: number },
): Promise<(EventEndpoint & { atMicros: string })[]> {
  return database.run(LIST, [...positionParameters(after), limit]);
}

const FIND = {
  name: "find_event_endpoint",
  text: `select ${COLUMNS} from event_endpoint where id = $1::uuid and url is not null`,
};

export async function findEndpoint(database: Queryable, id: string): Promise<EventEndpoint | null> {
  const [row] = await database.run<EventEndpoint>(FIND, [id]);
  return row ?? null;
}

export type EndpointChange = {
  url?: string | undefined;
  types?: readonly string[] | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  /** The new secret; the old ones sign as well for a day. */
  secret?: string | undefined;
};

/**
 * What an endpoint's (`p`) events are signed with, the newest secret first. `previous_secret` may be several,
 * separated by spaces: each rotation leaves all those before it valid for a day.
 */
export const SECRETS = `string_to_array(concat_ws(' ', p.secret,
  case when p.previous_secret_until > clock_timestamp() then p.previous_secret end), ' ')`;

/** More rotations within a day than anybody needs must not make the header too large for receivers. */
const MAX_PREVIOUS_SECRETS = 5;

const UPDATE = {
  name: "update_event_endpoint",
  text: `
update event_endpoint p set url = coalesce($2, url), types = coalesce($3::text[], types),
  description = case when $4::boolean then $5 else description end, enabled = coalesce($6::boolean, enabled),
  disabled_at = case when $6::boolean then null else disabled_at end,
  failing_since = case when $6::boolean and not enabled or $2 <> url then null else failing_since end,
  previous_secret = case when $7::text is null then previous_secret
    else array_to_string((${SECRETS})[:${MAX_PREVIOUS_SECRETS}], ' ') end,
  previous_secret_until = case when $7::text is null then previous_secret_until
    else clock_timestamp() + interval '24 hours' end,
  secret = coalesce($7::text, secret)
where id = $1::uuid and url is not null
returning ${COLUMNS}`,
};

export async function updateEndpoint(
  database: Queryable,
  id: string,
  { url, types, description, enabled, secret }: EndpointChange,
): Promise<EventEndpoint | null> {
  const [row] = await database.run<EventEndpoint>(UPDATE, [
    id,
    url ?? null,
    types ?? null,
    description !== undefined,
    description ?? null,
    enabled ?? null,
    secret ?? null,
  ]);
  return row ?? null;
}

const DELETE_LOG = {
  name: "delete_outbound_log",
  text: `
delete from outbound_delivery where id = any (array(
  select id from outbound_delivery where endpoint_id = $1::uuid and status <> 'pending' limit $2::int
)) returning id`,
};

/** Deletes a part of what an endpoint was sent. Returns whether there may be more. */
export async function deleteDeliveryLog(database: Queryable, id: string, limit: number): Promise<boolean> {
  return (await database.run(DELETE_LOG, [id, limit])).length === limit;
}

const DELETE = {
  name: "delete_event_endpoint",
  text: "delete from event_endpoint where id = $1::uuid and url is not null returning id",
};

/** With its deliveries; the endpoint is locked meanwhile. Returns whether there was one. */
export async function deleteEndpoint(database: Queryable, id: string): Promise<boolean> {
  return (await database.run(DELETE, [id])).length > 0;
}

const SIGNING = {
  name: "event_endpoint_secrets",
  text: `
select url, ${SECRETS} as secrets from event_endpoint p where id = $1::uuid and url is not null`,
};

type EndpointTarget = { url: string; secrets: string[] };

/** Where to send, and what to sign with: the newest secret first. */
export async function findEndpointTarget(database: Queryable, id: string): Promise<EndpointTarget | null> {
  const [row] = await database.run<EndpointTarget>(SIGNING, [id]);
  return row ?? null;
}
