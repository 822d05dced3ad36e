import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import { lemonSqueezyApi } from "./api/lemon-squeezy.ts";
import { paddleApi } from "./api/paddle.ts";
import { polarApi } from "./api/polar.ts";
import { stripeApi } from "./api/stripe.ts";
import { guardPages } from "./guard.ts";
import type { Clock } from "./move-clock.ts";
import { checkoutPages } from "./pages/checkout.ts";
import { controlPage } from "./pages/control.ts";
import { controlApi } from "./pages/control-api.ts";
import { portalPages } from "./pages/portal.ts";
import type { Shop } from "./shop.ts";

export type ProviderApp = {
  host: string;
  shops: readonly Shop[];
  clock: Clock;
  /** Resolves when what has happened so far is on the disk. */
  saved(): Promise<void>;
  deliverTo(slot: Slot): string;
};

const APIS: Record<WireFormat, (shop: Shop) => Hono> = {
  stripe: stripeApi,
  paddle: paddleApi,
  polar: polarApi,
  "lemon-squeezy": lemonSqueezyApi,
};

const MOST_BYTES = 1_048_576;

export function createProviderApp({ host, shops, clock, saved, deliverTo }: ProviderApp): Hono {
  const app = new Hono();
  const guard = guardPages(host);
  app.use(bodyLimit({ maxSize: MOST_BYTES }));
  // Whoever was told that something is done finds it done after a crash.
  app.use(async (c, next) => {
    await next();
    if (c.req.method !== "GET") await saved();
  });
  for (const shop of shops) {
    app.use(`/${shop.slot}/checkout/*`, guard);
    app.use(`/${shop.slot}/portal/*`, guard);
    app.route(`/${shop.slot}/checkout`, checkoutPages(shop));
    app.route(`/${shop.slot}/portal`, portalPages(shop));
    app.route(`/${shop.slot}`, APIS[shop.state.format](shop));
  }
  app.use("/control/*", guard);
  app.use("/", guard);
  app.route("/control", controlApi(shops, clock));
  app.route("/", controlPage({ shops, clock, deliverTo }));
  return app;
}
