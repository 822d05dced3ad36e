import type { Route } from "../rest/route.ts";

type Tag = { name: string; description: string };

/** Per noun of the operations' names. */
const TAGS: Record<string, Tag> = {
  plans: { name: "Plans", description: "The plans for sale." },
  users: { name: "Users", description: "User accounts." },
  subscriptions: {
    name: "Subscriptions",
    description: "Users' subscriptions, as reported by the payment providers.",
  },
  billing: { name: "Billing", description: "Checkout and customer portal at the payment provider." },
  payments: { name: "Payments", description: "Payments with their refunds and disputes." },
  apiKeys: { name: "API keys", description: "Keys for programs that act on behalf of their owner." },
  serviceKeys: {
    name: "Service keys",
    description: "Keys for programs that act for the users that they name, managed by administrators.",
  },
  notifications: { name: "Notifications", description: "Messages about a user's plan, keys and account." },
  entitlements: { name: "Entitlements", description: "What users may do, by their subscriptions." },
  usage: { name: "Usage", description: "What users have used of their quotas." },
  audit: { name: "Audit log", description: "Actions of administrators, operators and API keys." },
  events: { name: "Events", description: "Changes, for programs that poll or stream them." },
  eventEndpoints: {
    name: "Event endpoints",
    description: "Endpoints that receive signed events about changes.",
  },
  webhooks: { name: "Webhook deliveries", description: "The log of events received from payment providers." },
};

export const AUTH_TAG: Tag = {
  name: "Accounts",
  description:
    "Signing up, in and out, passwords, sessions and second factors. Errors are `{ error, message, code }`.",
};

export const SYSTEM_TAG: Tag = {
  name: "System",
  description: "The service itself, and its webhook endpoints.",
};

/** @throws Error for a noun without a tag */
export function tagOf({ operation }: Route): Tag {
  const noun = operation.name.split(".")[0] as string;
  const tag = TAGS[noun];
  if (!tag) throw new Error(`${operation.name}: what its documents call "${noun}" is missing in TAGS`);
  return tag;
}
