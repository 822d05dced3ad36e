import { Hono } from "hono";
import { isSlot } from "../domain/slot.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { BodyTooLarge } from "../http/read-body.ts";
import { answerJson } from "../http/response-headers.ts";
import { receiveDelivery, type WebhookOptions } from "./receive-delivery.ts";

/** `POST /api/webhooks/<slot>`: every request that `direct-webhooks.ts` does not serve. */
export function webhooks(options: WebhookOptions): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  routes.all("/:slot", async (c) => {
    const slot = c.req.param("slot");
    if (!isSlot(slot)) return c.json({ error: "Not found" }, 404);
    if (c.req.method !== "POST") return c.json({ error: "Method not allowed" }, 405, { allow: "POST" });
    try {
      const { incoming } = c.env;
      const { status, body, headers } = await receiveDelivery(options, slot, incoming, c.get("requestId"));
      return answerJson(c, body, status, headers);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      // Closing at once would reset a client that is still sending, before it reads the 413. @hono/node-server
      // first discards the rest of the body, for at most half a second and 64 MB.
      c.env.outgoing.shouldKeepAlive = true;
      return c.json({ error: "Payload too large" }, 413);
    }
  });
  return routes;
}
