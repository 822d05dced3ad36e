import { readFile } from "node:fs/promises";
import { diff } from "@graphql-inspector/core";
import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  printSchema,
} from "graphql";
import { expect, it } from "vitest";
import { z } from "zod";
import { printedSchema, schema } from "../../../src/api/graphql/schema.ts";
import { createApiKey } from "../../../src/operations/api-keys/create-api-key.ts";
import { listApiKeys } from "../../../src/operations/api-keys/list-api-keys.ts";
import { changeSubscription } from "../../../src/operations/billing/change-subscription.ts";
import { createCheckout } from "../../../src/operations/billing/create-checkout.ts";
import { openPortal } from "../../../src/operations/billing/open-portal.ts";
import { checkEntitlement } from "../../../src/operations/entitlements/check-entitlement.ts";
import { listNotifications } from "../../../src/operations/notifications/list-notifications.ts";
import { NAMED_USER } from "../../../src/operations/on-behalf.ts";
import { listPayments } from "../../../src/operations/payments/list-payments.ts";
import { listFeatures } from "../../../src/operations/plans/list-features.ts";
import { listPlans } from "../../../src/operations/plans/list-plans.ts";
import { createServiceKey } from "../../../src/operations/service-keys/create-service-key.ts";
import { listSubscriptions } from "../../../src/operations/subscriptions/list-subscriptions.ts";
import { changeRole } from "../../../src/operations/users/change-role.ts";
import { deleteUser } from "../../../src/operations/users/delete-user.ts";
import { listUsers } from "../../../src/operations/users/list-users.ts";
import { updateProfile } from "../../../src/operations/users/update-profile.ts";
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

it("has a printed schema equal to the served one, which graphql-inspector confirms", async () => {
  const printed = buildSchema(printedSchema());
  for (const [before, after] of [
    [schema, printed],
    [printed, schema],
  ] as const) {
    expect(findBreakingChanges(before, after)).toEqual([]);
    expect(findDangerousChanges(before, after)).toEqual([]);
  }
  // It compares what is printed, such as the committed schema with a newer one.
  expect(await diff(printed, buildSchema(printedSchema()))).toEqual([]);
  const renamed = buildSchema(printedSchema().replace("unreadCount: Int", "unread: Int"));
  const breaking = (await diff(printed, renamed)).filter(
    ({ criticality }) => criticality.level === "BREAKING",
  );
  expect(breaking.map(({ path }) => path)).toEqual(["Query.unreadCount"]);
});

it("describes every type, field, argument and enum value", () => {
  const undescribed = Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type))
    .flatMap((type) => [
      [type.name, type.description],
      ...partsOf(type).map(([name, description]) => [`${type.name}.${name}`, description]),
    ])
    .filter(([, description]) => !description)
    .map(([name]) => name);
  expect(undescribed).toEqual([]);
});

function partsOf(type: GraphQLNamedType): [name: string, description: string | null | undefined][] {
  if (isEnumType(type)) return type.getValues().map(({ name, description }) => [name, description]);
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map(({ name, description }) => [name, description]);
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    [field.name, field.description] as [string, string | null | undefined],
    ...field.args.map(
      ({ name, description }) =>
        [`${field.name}(${name})`, description] as [string, string | null | undefined],
    ),
  ]);
}

// The type has exactly the fields of the operation's output.
it.each([
  ["UserPage", listUsers.output, ["items.subscriptions"]],
  ["SubscriptionPage", listSubscriptions.output, []],
  ["PaymentPage", listPayments.output, []],
  // A feature's id is not unique: see normalizing-cache.test.ts.
  ["PlanPage", listPlans.output, ["items.featureDetails.featureId"]],
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
  const fields = fieldsOf(schema.getType(name)).filter(isToBeSame);
  expect(fields.sort()).toEqual(fieldsOfView(output).filter(isToBeSame).sort());
});

it.each([
  changeRole,
  changeSubscription,
  checkEntitlement,
  createApiKey,
  createCheckout,
  createServiceKey,
  deleteUser,
  listDeliveries,
  listPayments,
  listUsers,
  openPortal,
  replayDelivery,
  updateProfile,
])("the field of $name takes the whole input of its operation", ({ summary, input }) => {
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
  const field = fields.find(({ description }) => description === summary);
  const taken = field?.args.map(({ name }) => name).filter((name) => !(name in NAMED_USER));
  expect(taken?.sort()).toEqual(Object.keys(input.shape).sort());
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
