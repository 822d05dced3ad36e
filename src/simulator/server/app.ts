import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Slot } from "../../domain/slot.ts";
import { bearerKey, isSameKey } from "../http/api-key.ts";
import { guardPages } from "../http/guard-pages.ts";
import { checkoutPages } from "../pages/checkout.ts";
import { controlPage } from "../pages/control.ts";
import { controlApi } from "../pages/control-api.ts";
import { portalPages } from "../pages/portal.ts";
import { simulatedProviderOf } from "../registry.ts";
import type { Clock } from "./move-clock.ts";
import type { ProviderSlot } from "./provider-slot.ts";

export type ProviderApp = {
  host: string;
  slots: readonly ProviderSlot[];
  clock: Clock;
  /** Resolves when the changes so far are on disk. */
  saved(): Promise<void>;
  deliverTo(slot: Slot): string;
};

const MAX_BODY_BYTES = 1_048_576;

export function createProviderApp({ host, slots, clock, saved, deliverTo }: ProviderApp): Hono {
  const app = new Hono();
  const guard = guardPages(host);
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES }));
  // A change must be durable before it is confirmed.
  app.use(async (c, next) => {
    await next();
    if (c.req.method !== "GET") await saved();
  });
  const apis = new Map(
    slots.map((slot) => [slot, simulatedProviderOf(slot.state.format).createApi(slot)] as const),
  );
  for (const [slot, api] of apis) {
    app.use(`/${slot.name}/checkout/*`, guard);
    app.use(`/${slot.name}/portal/*`, guard);
    app.route(`/${slot.name}/checkout`, checkoutPages(slot));
    app.route(`/${slot.name}/portal`, portalPages(slot));
    app.route(`/${slot.name}`, api);
  }
  // SDKs that accept a host and a port but no path are identified by their key.
  app.all("/v1/*", (c) => {
    const key = bearerKey(c.req.header("authorization"));
    const slot = slots.find(({ apiKey }) => key !== null && isSameKey(key, apiKey)) ?? slots[0];
    return (slot && apis.get(slot)?.fetch(c.req.raw)) ?? c.notFound();
  });
  app.use("/control/*", guard);
  app.use("/", guard);
  app.route("/control", controlApi(slots, clock));
  app.route("/", controlPage({ slots, clock, deliverTo }));
  return app;
}
