import { readFile } from "node:fs/promises";
import { buildSchema, type GraphQLNamedType, isInterfaceType, isObjectType, printSchema } from "graphql";
import { expect, it } from "vitest";
import { z } from "zod";
import { printedSchema, schema } from "../../../src/api/graphql/schema.ts";
import { createApiKey } from "../../../src/operations/api-keys/create-api-key.ts";
import { listApiKeys } from "../../../src/operations/api-keys/list-api-keys.ts";
import { listNotifications } from "../../../src/operations/notifications/list-notifications.ts";
import { listPayments } from "../../../src/operations/payments/list-payments.ts";
import { listFeatures } from "../../../src/operations/plans/list-features.ts";
import { listPlans } from "../../../src/operations/plans/list-plans.ts";
import { listSubscriptions } from "../../../src/operations/subscriptions/list-subscriptions.ts";
import { listUsers } from "../../../src/operations/users/list-users.ts";
import { listDeliveries } from "../../../src/operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../../src/operations/webhooks/replay-delivery.ts";
import { showDelivery } from "../../../src/operations/webhooks/show-delivery.ts";

it("matches schema.graphql (npm run graphql-schema)", async () => {
  const dumped = await readFile(new URL("../../../src/api/graphql/schema.graphql", import.meta.url), "utf8");
  // Parsed first: its layout belongs to the formatter.
  expect(printSchema(buildSchema(printedSchema()))).toBe(printSchema(buildSchema(dumped)));
  expect(buildSchema(dumped).getSubscriptionType() ?? null).toBe(null);
});

it("has no subscription root, also as others read the printed schema", () => {
  expect(schema.getSubscriptionType() ?? null).toBe(null);
  expect(buildSchema(printedSchema()).getSubscriptionType() ?? null).toBe(null);
  expect(schema.getType("BillingSubscription")).toBeDefined();
});

// The type has exactly the fields of the operation's output.
it.each([
  ["UserPage", listUsers.output, ["items.subscriptions"]],
  ["SubscriptionPage", listSubscriptions.output, []],
  ["PaymentPage", listPayments.output, []],
  ["PlanPage", listPlans.output, []],
  ["Feature", listFeatures.output.shape.features.element, []],
  ["NotificationPage", listNotifications.output, []],
  ["ApiKeyPage", listApiKeys.output, []],
  ["NewApiKey", createApiKey.output, []],
  ["DeliveryPage", listDeliveries.output, []],
  // A pair of the field's own type: GraphQL has no tuples.
  ["DeliveryInDetail", showDelivery.output, ["attemptLog.changes."]],
  ["Replay", replayDelivery.output, []],
])("%s has the fields of its operation, with the same nullability", (name, output, besides) => {
  const isToBeSame = (field: string) => !besides.some((prefix) => field.startsWith(prefix));
  const shown = fieldsOf(schema.getType(name)).filter(isToBeSame);
  expect(shown.sort()).toEqual(fieldsOfView(output).filter(isToBeSame).sort());
});

/** `name`, or `name?` when it may be null, and what is below it. */
function fieldsOf(type: GraphQLNamedType | undefined, prefix = ""): string[] {
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const path = `${prefix}${field.name}`;
    const text = String(field.type);
    const inner = schema.getType(text.replaceAll(/[[\]!]/g, ""));
    return [text.endsWith("!") ? path : `${path}?`, ...fieldsOf(inner, `${path}.`)];
  });
}

function fieldsOfView(view: z.ZodType, prefix = ""): string[] {
  if (view instanceof z.ZodNullable) return fieldsOfView(view.unwrap() as z.ZodType, prefix);
  if (view instanceof z.ZodArray) return fieldsOfView(view.element as z.ZodType, prefix);
  if (!(view instanceof z.ZodObject)) return [];
  return Object.entries(view.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    return [field.safeParse(null).success ? `${path}?` : path, ...fieldsOfView(field, `${path}.`)];
  });
}
