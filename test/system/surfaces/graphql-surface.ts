import {
  coerceInputValue,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { schema } from "../../../src/api/graphql/schema.ts";
import type { RefusalCode } from "../../../src/domain/refusals/reason-definition.ts";
import { queryGraphql } from "../../api/graphql/query-graphql.ts";
import { entranceTo, type Input, limitsIn, type Surface } from "./surface.ts";

const CODES: Record<string, RefusalCode> = {
  UNAUTHENTICATED: "unauthorized",
  FORBIDDEN: "forbidden",
  RATE_LIMITED: "rate_limited",
  BAD_USER_INPUT: "invalid_input",
  PAYLOAD_TOO_LARGE: "too_large",
  NOT_FOUND: "not_found",
  CONFLICT: "conflict",
  UNAVAILABLE: "unavailable",
  // Of a document that the schema does not allow: see `refusesInput`.
  GRAPHQL_VALIDATION_FAILED: "invalid_input",
};

/** Where a field is the one thing that the operation's output holds: the name that it has there. */
const UNWRAPPED: Record<string, string> = {
  unreadCount: "count",
  markAllRead: "count",
  features: "features",
  createCheckout: "url",
  openPortal: "url",
  deleteAccount: "success",
  deleteUser: "success",
  revokeApiKey: "success",
  revokeServiceKey: "success",
};

const ROOTS = [schema.getQueryType(), schema.getMutationType()] as [GraphQLObjectType, GraphQLObjectType];

export const graphqlSurface: Surface = {
  name: "GraphQL",
  scope: "graphql",
  entrances: ROOTS.flatMap((root) => Object.keys(root.getFields())),
  leadsTo: {
    me: ["users.me"],
    users: ["users.list"],
    subscriptions: ["subscriptions.list"],
    subscription: ["subscriptions.show"],
    currentSubscription: ["subscriptions.current"],
    payments: ["payments.list"],
    userPayments: ["payments.listOfUser"],
    entitlements: ["entitlements.show"],
    check: ["entitlements.check"],
    plans: ["plans.list"],
    features: ["plans.features"],
    notifications: ["notifications.list"],
    unreadCount: ["notifications.unreadCount"],
    apiKeys: ["apiKeys.list"],
    serviceKeys: ["serviceKeys.list"],
    deliveries: ["webhooks.list"],
    delivery: ["webhooks.show"],
    updateProfile: ["users.updateProfile"],
    setLocale: ["users.setLocale"],
    completeOnboarding: ["users.completeOnboarding"],
    deleteAccount: ["users.deleteAccount"],
    createCheckout: ["billing.createCheckout"],
    changeSubscription: ["billing.changeSubscription"],
    openPortal: ["billing.openPortal"],
    createApiKey: ["apiKeys.create"],
    revokeApiKey: ["apiKeys.revoke"],
    createServiceKey: ["serviceKeys.create"],
    rotateServiceKey: ["serviceKeys.rotate"],
    revokeServiceKey: ["serviceKeys.revoke"],
    markRead: ["notifications.markRead"],
    markAllRead: ["notifications.markAllRead"],
    changeRole: ["users.changeRole"],
    deleteUser: ["users.delete"],
    replayDelivery: ["webhooks.replay"],
    reconcileSubscription: ["subscriptions.reconcile"],
    dismissSubscription: ["subscriptions.dismiss"],
  },
  differs: {
    // GraphQL has no objects with names of their own: a list, whose entries have all fields.
    "entitlements.show": {
      shows: ({ features, ...rest }) => ({
        ...rest,
        features: Object.entries(features as Record<string, object>).map(([id, feature]) => ({
          id,
          featureId: id,
          used: null,
          remaining: null,
          ...feature,
        })),
      }),
    },
    // A feature's id does not identify an object: see normalizing-cache.test.ts.
    "plans.list": {
      shows: ({ items, ...rest }) => ({
        ...rest,
        items: (items as { featureDetails: { id: string }[] }[]).map((plan) => ({
          ...plan,
          featureDetails: plan.featureDetails.map((feature) => ({ ...feature, featureId: feature.id })),
        })),
      }),
    },
    "entitlements.check": { shows: (output) => ({ remaining: null, ...output }) },
  },
  refusesInput: (operation, input) => {
    const { args } = fieldOf(operation);
    const hasUnknownArgument = Object.keys(input).some((name) => !args.some((arg) => arg.name === name));
    return (
      hasUnknownArgument ||
      args.some((arg) => (arg.name in input ? isNoValue(input[arg.name], arg.type) : isRequiredArgument(arg)))
    );
  },
  call: async (serverUrl, operation, caller, input) => {
    const field = fieldOf(operation);
    const response = await queryGraphql(serverUrl, documentFor(field, input), {
      ...caller,
      variables: variablesFor(field, input),
    });
    const limits = limitsIn(response);
    const { data, errors } = response.body;
    if (!errors) {
      const value = readBack(data[field.name], field.type);
      const wrapper = UNWRAPPED[field.name];
      return {
        verdict: "ok",
        message: null,
        reason: null,
        output: wrapper ? { [wrapper]: value } : value,
        ...limits,
      };
    }
    const [{ message, extensions }] = errors;
    const verdict = CODES[extensions.code];
    if (verdict === undefined || errors.length > 1 || data?.[field.name]) throw new Error(response.text);
    const { reason, params } = extensions;
    return { verdict, message, reason: { reason, params }, output: null, ...limits };
  },
};

type Field = GraphQLField<unknown, unknown>;

function fieldOf(operation: string): Field {
  const name = entranceTo(graphqlSurface, operation);
  return ROOTS.map((root) => root.getFields()[name]).find((field) => field !== undefined) as Field;
}

/** Asks for everything; what the field has no argument for is written into the document. */
function documentFor({ name, args, type }: Field, input: Input): string {
  const givenArgs = args.filter((arg) => arg.name in input);
  const others = Object.keys(input).filter((otherKey) => !givenArgs.some((arg) => arg.name === otherKey));
  const inside = [
    ...givenArgs.map((arg) => `${arg.name}: $${arg.name}`),
    ...others.map((name) => `${name}: ${JSON.stringify(input[name])}`),
  ].join(", ");
  const outside = givenArgs.map((arg) => `$${arg.name}: ${arg.type}`).join(", ");
  const kind = ROOTS[0].getFields()[name] ? "query" : "mutation";
  return `${kind} ${outside && `(${outside})`} { ${name}${inside && `(${inside})`} ${selectionOf(type)} }`;
}

function selectionOf(type: GraphQLOutputType): string {
  const namedType = getNamedType(type);
  if (!isObjectType(namedType) && !isInterfaceType(namedType)) return "";
  const fields = Object.values(namedType.getFields()).filter(
    (field) => !isOfAnotherOperation(namedType.name, field),
  );
  return `{ ${fields.map((field) => `${field.name} ${selectionOf(field.type)}`).join(" ")} }`;
}

function isOfAnotherOperation(typeName: string, field: Field): boolean {
  return typeName === "User" && field.name === "subscriptions";
}

function variablesFor({ args }: Field, input: Input): Input {
  const givenArgs = args.filter((arg) => arg.name in input);
  return Object.fromEntries(givenArgs.map((arg) => [arg.name, spelt(input[arg.name], arg.type)]));
}

function isNoValue(value: unknown, type: GraphQLInputType): boolean {
  return coerceInputValue(spelt(value, type), type) === undefined;
}

/** In GraphQL's spelling: `PROVIDER_A` is what the operations call `provider-a`. */
function spelt(value: unknown, type: GraphQLInputType): unknown {
  const namedType = getNamedType(type);
  if (isEnumType(namedType))
    return typeof value === "string" ? value.replaceAll("-", "_").toUpperCase() : value;
  if (!isInputObjectType(namedType) || typeof value !== "object" || value === null) return value;
  const fields = namedType.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      fields[name] ? spelt(inner, fields[name].type) : inner,
    ]),
  );
}

function readBack(value: unknown, type: GraphQLOutputType): unknown {
  if (value === null) return null;
  const nullableType = getNullableType(type);
  if (isListType(nullableType))
    return (value as unknown[]).map((item) => readBack(item, nullableType.ofType));
  if (isEnumType(nullableType)) return (value as string).toLowerCase().replace(/^provider_/, "provider-");
  if (!isObjectType(nullableType)) return value;
  const fields = nullableType.getFields();
  return Object.fromEntries(
    Object.entries(value as object).map(([name, inner]) => [
      name,
      readBack(inner, (fields[name] as Field).type),
    ]),
  );
}
