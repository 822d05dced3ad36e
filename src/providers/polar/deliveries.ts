import {
  listWebhookDeliveriesWebhooks,
  listWebhookEndpointsWebhooks,
} from "@polar-sh/sdk/2026-10/services/webhooks";
import type { ListedEvent } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredText, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { type PolarClient, polarClient } from "./client.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { POLAR_EVENT_TYPES } from "./webhook.ts";

/**
 * Newest first. Polar lists delivery attempts, several per event, under the id that deliveries carry. Only
 * our endpoint's: events of another endpoint would all seem to be missed.
 */
export async function* deliveryPages(
  provider: ConnectedProvider,
  since: Date,
): AsyncGenerator<ListedEvent[]> {
  const begin = () => polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const endpoint = await ourEndpoint(provider, begin());
  if (endpoint === null) return;
  const query = {
    endpoint_id: requiredText(provider, endpoint, "id"),
    start_timestamp: since.toISOString(),
    limit: PAGE_SIZE,
  };
  for (let page = 1; ; page++) {
    const response = await listWebhookDeliveriesWebhooks(begin())({ ...query, page });
    const deliveries = listAt(response, "items");
    yield deliveries.flatMap(eventOf);
    if (nextPage(provider, response, page) === null) return;
  }
}

export async function isEndpointDisabled(provider: ConnectedProvider): Promise<boolean> {
  const endpoint = await ourEndpoint(provider, polarClient(provider, beginCall(provider)));
  return endpoint === null || valueAt(endpoint, "enabled") === false;
}

/** `null`: Polar has no endpoint for raw JSON. Endpoints in chat formats are not ours. */
async function ourEndpoint(provider: ConnectedProvider, client: PolarClient): Promise<unknown> {
  const response = await listWebhookEndpointsWebhooks(client)({ limit: PAGE_SIZE });
  const endpoints = listAt(response, "items").filter(
    (endpoint) => (textAt(endpoint, "format") ?? "raw") === "raw",
  );
  const withOurUrl = endpoints.filter((endpoint) => isUrlOfSlot(provider, textAt(endpoint, "url")));
  const ours = withOurUrl.length > 0 ? withOurUrl : endpoints;
  if (ours.length === 0) return null;
  if (ours.length === 1) return ours[0];
  throw problem(provider, "rejected", `${ours.length} webhook endpoints could be the one of this server`, {
    remedy: "Delete those that are not used, or give each installation an organization of its own in Polar.",
  });
}

function isUrlOfSlot({ slot }: ConnectedProvider, url: string | null): boolean {
  return URL.parse(url ?? "")?.pathname.endsWith(`/webhooks/${slot}`) ?? false;
}

function eventOf(delivery: unknown): ListedEvent[] {
  const eventId = textAt(delivery, "webhook_event", "id");
  const eventType = textAt(delivery, "webhook_event", "type");
  // Archived events have no payload.
  const payload = textAt(delivery, "webhook_event", "payload");
  if (eventId === null || eventType === null || payload === null) return [];
  if (!POLAR_EVENT_TYPES.includes(eventType)) return [];
  return [{ eventId, eventType, rawBody: Buffer.from(payload), headers: { "webhook-id": eventId } }];
}
