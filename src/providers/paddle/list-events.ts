import type { ListedEvent } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listedEvent, MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { dateAt, listAt, requiredText, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { nextPosition } from "./next-position.ts";
import { get } from "./requests.ts";
import { PADDLE_EVENT_TYPES } from "./webhook.ts";

const PAGE_SIZE = 100;

/** Newest first until they are too old; only this order can stop early. */
export async function* eventPages(provider: ConnectedProvider, since: Date): AsyncGenerator<ListedEvent[]> {
  const query = new URLSearchParams({
    order_by: "id[DESC]",
    per_page: String(PAGE_SIZE),
    event_type: PADDLE_EVENT_TYPES.join(","),
  });
  for (;;) {
    const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    const page = await send(get(provider, `/events?${query}`));
    const events = listAt(page, "data");
    const recent = events.filter((event) => {
      const occurredAt = dateAt(event, "occurred_at");
      return occurredAt === null || occurredAt >= since;
    });
    yield recent
      .filter((event) => PADDLE_EVENT_TYPES.includes(textAt(event, "event_type") ?? ""))
      .map((event) =>
        listedEvent(
          requiredText(provider, event, "event_id"),
          requiredText(provider, event, "event_type"),
          event,
        ),
      );
    if (recent.length < events.length) return;
    const last = nextPosition(provider, page, { size: PAGE_SIZE, idName: "event_id" });
    if (last === null) return;
    query.set("after", last);
  }
}
