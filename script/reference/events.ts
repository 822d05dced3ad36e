import { openApiDocument } from "../../src/api/openapi/document.ts";
import { ROUTES } from "../../src/api/rest/routes.ts";
import { EVENT_KINDS } from "../../src/domain/events/payment-event.ts";
import { LEMON_SQUEEZY_EVENT_TYPES } from "../../src/providers/lemon-squeezy/webhook.ts";
import { PADDLE_EVENT_TYPES } from "../../src/providers/paddle/webhook.ts";
import { POLAR_EVENT_TYPES } from "../../src/providers/polar/webhook.ts";
import { STRIPE_EVENT_TYPES } from "../../src/providers/stripe/webhook.ts";
import { code, table } from "./table.ts";

/** Every slot accepts the names of the specification. */
const isKind = (type: string) => (EVENT_KINDS as readonly string[]).includes(type);

export function outboundEventRows(): string {
  const { webhooks } = openApiDocument({
    routes: ROUTES,
    authRoutes: [],
    version: "v2",
    appUrl: "https://app.example.com",
  }) as unknown as { webhooks: Record<string, { post: { summary: string } }> };
  return table(
    ["type", "sent when"],
    Object.entries(webhooks).map(([type, { post }]) => [code(type), post.summary]),
  );
}

export function providerEventRows(): string {
  const providers: [string, string, readonly string[]][] = [
    ["Stripe", "stripe", STRIPE_EVENT_TYPES],
    ["Paddle", "paddle", PADDLE_EVENT_TYPES],
    ["Polar", "polar", POLAR_EVENT_TYPES],
    ["Lemon Squeezy", "lemon-squeezy", LEMON_SQUEEZY_EVENT_TYPES],
  ];
  return table(
    ["provider", "events with effects"],
    [
      ["any slot", EVENT_KINDS.map(code).join(", ")],
      ...providers.map(([name, page, types]) => [
        `[${name}](../providers/${page}.md)`,
        types
          .filter((type) => name === "Stripe" || !isKind(type))
          .map(code)
          .join(", "),
      ]),
    ],
  );
}
