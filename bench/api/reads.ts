import superjson from "superjson";
import type { Person } from "./population.ts";

/** A page of the caller's own list, as it is asked for and answered over one surface. */
export type Read = {
  list: keyof Person["lists"];
  /** @param limit how many at most; 0 is to be refused */
  request(limit: number): ApiRequest;
  parseResponse(answer: { status: number; text: string }): ParsedResponse;
};

export type ApiRequest = { method: "GET"; path: string } | { method: "POST"; path: string; body: string };

/** Items as JSON has them, whatever the surface's own spelling. */
type ParsedResponse = { items: unknown[]; nextCursor: string | null } | { refused: Refused };

type Refused = "unauthorized" | "invalid_input" | "for another reason";

export function overRest(list: Read["list"]): Read {
  return {
    list,
    request: (limit) => ({ method: "GET", path: `/api/${list}?limit=${limit}` }),
    parseResponse: ({ status, text }) => {
      if (status !== 200) return { refused: byStatus(status) };
      const { [list]: items, ...rest } = JSON.parse(text);
      return { items, ...rest };
    },
  };
}

/** As tRPC's own client sends a call that it has no others to batch with. */
export const NOTIFICATIONS_OVER_RPC: Read = {
  list: "notifications",
  request: (limit) => {
    const input = JSON.stringify({ 0: superjson.serialize({ limit }) });
    return {
      method: "GET",
      path: `/api/trpc/notifications.list?batch=1&input=${encodeURIComponent(input)}`,
    };
  },
  parseResponse: ({ status, text }) => {
    if (status !== 200) return { refused: byStatus(status) };
    const [{ result }] = JSON.parse(text);
    const { items, ...rest } = superjson.deserialize<{ items: Revived[]; nextCursor: string | null }>(
      result.data,
    );
    return { items: items.map(inJson), ...rest };
  },
};

type Revived = { createdAt: Date; readAt: Date | null };

/** Calls what only dates have: times that come as text are no answer of superjson's. */
function inJson({ createdAt, readAt, ...rest }: Revived) {
  return { ...rest, createdAt: createdAt.toISOString(), readAt: readAt?.toISOString() ?? null };
}

const DOCUMENT = `query Notifications($limit: Int!) {
  notifications(limit: $limit) {
    items { id kind details createdAt readAt }
    nextCursor
  }
}`;

export const NOTIFICATIONS_OVER_GRAPHQL: Read = {
  list: "notifications",
  request: (limit) => ({
    method: "POST",
    path: "/api/graphql",
    body: JSON.stringify({ query: DOCUMENT, operationName: "Notifications", variables: { limit } }),
  }),
  parseResponse: ({ status, text }) => {
    const { data, errors } = JSON.parse(text);
    if (status !== 200 || errors) return { refused: BY_CODE[errors?.[0].extensions?.code] ?? OTHERWISE };
    const { items, ...rest } = data.notifications;
    return {
      items: items.map((item: { kind: string }) => ({ ...item, kind: item.kind.toLowerCase() })),
      ...rest,
    };
  },
};

const OTHERWISE: Refused = "for another reason";

const BY_CODE: Record<string, Refused> = { UNAUTHENTICATED: "unauthorized", BAD_USER_INPUT: "invalid_input" };

function byStatus(status: number): Refused {
  return status === 401 ? "unauthorized" : status === 400 ? "invalid_input" : OTHERWISE;
}
