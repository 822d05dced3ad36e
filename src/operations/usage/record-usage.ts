import { z } from "zod";
import { format, invalidInput, whetherMissing } from "../../domain/refusals/invalid-input.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { recordUsage as record, type UsageItem } from "../../store/entitlements/usage.ts";
import { retryOnContention } from "../../store/retry-on-contention.ts";
import { currentEntitlements, type EntitlementDeps } from "../entitlements/current-view.ts";
import { type FindNamedUser, NAMED_USER, namedUser } from "../on-behalf.ts";
import { defineOperation } from "../operation.ts";

const Item = z.strictObject({
  ...NAMED_USER,
  feature: z.string().min(1).max(50).describe("The id of a quota in `plans.config.ts`."),
  amount: z.int().min(1).max(2_147_483_647).describe("How much was used."),
  idempotencyKey: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\x20-\x7e]*$/, format("printable_ascii"))
    .describe(
      "Identifies this item, per service key: repeated within 30 days, it is not counted again, and the response is the same.",
    ),
});

const Recorded = z.object({
  used: z.int().describe("How much has been used in the current period."),
  remaining: z.int().describe("How much is left in the current period."),
});

type Deps = EntitlementDeps & { database: Queryable; findNamedUser?: FindNamedUser };

export const recordUsage = defineOperation({
  name: "usage.record",
  summary: "Records usage against users' quotas: one item, or up to 100, all or none of which count",
  access: "service",
  permission: "usage:write",
  limit: "service-key",
  input: z.strictObject({
    ...Item.partial().shape,
    items: z.array(Item).min(1).max(100).optional().describe("Several instead of one."),
  }),
  reasons: ["not_found", "quota_exceeded", "idempotency_key_reused"],
  output: z.object({
    allowed: z.literal(true).describe("Always true: a refusal is an error."),
    ...Recorded.partial().shape,
    items: z.array(Recorded).optional().describe("In the order of the request's items."),
  }),
  run: async (deps: Deps, { keyId }, { items, ...single }) => {
    const usageItems = items ?? [oneItem(single)];
    if (items !== undefined) assertNothingBeside(single);
    const fieldOf = (index: number) => (items === undefined ? null : `items.${index}`);
    // An account that is deleted meanwhile is not found the second time.
    const { quotas, result } = await retryOnContention(async () => {
      const quotas = await Promise.all(
        usageItems.map(async (item, index) => ({
          ...(await quotaOf(deps, item, fieldOf(index))),
          // Two programs with keys of their own may count alike: one must not take the other's usage for
          // repeated.
          idempotencyKey: `${keyId} ${item.idempotencyKey}`,
        })),
      );
      return { quotas, result: await record(deps.database, quotas) };
    });
    switch (result.outcome) {
      case "recorded": {
        const [first] = result.answers;
        return { allowed: true as const, ...(items === undefined ? first : { items: result.answers }) };
      }
      case "quota_exceeded": {
        const { feature } = quotas[result.item] as UsageItem;
        const params = { feature, remaining: result.remaining };
        return refuse({ reason: "quota_exceeded", params, field: fieldOf(result.item) });
      }
      case "key_reused":
        return refuse({ reason: "idempotency_key_reused", field: fieldOf(result.item) });
      default:
        return result satisfies never;
    }
  },
});

function oneItem(single: unknown): z.output<typeof Item> {
  const parsed = Item.safeParse(single, { error: whetherMissing });
  if (!parsed.success) throw invalidInput(parsed.error);
  return parsed.data;
}

function assertNothingBeside(single: object): void {
  const [field] = Object.keys(single);
  if (field !== undefined) refuse({ reason: "invalid_input", params: { problem: "unknown_field" }, field });
}

/** The item with what may be used of its quota, and until when. @throws Refusal */
async function quotaOf(
  deps: Deps,
  item: z.output<typeof Item>,
  field: string | null,
): Promise<Omit<UsageItem, "idempotencyKey">> {
  const { feature, amount } = item;
  const at = (name: string) => (field === null ? name : `${field}.${name}`);
  const userId = await namedUser(item, deps.findNamedUser, field);
  const { features } = await currentEntitlements(deps, userId);
  const entitlement = features.get(feature) ?? notFound("feature", field);
  if (entitlement.kind !== "quota") {
    const quotas = [...features].filter(([, { kind }]) => kind === "quota").map(([id]) => id);
    refuse({
      reason: "invalid_input",
      params: { problem: "not_one_of", values: quotas },
      field: at("feature"),
    });
  }
  const { value, resetsAt: periodEnd } = entitlement;
  return { userId, feature, amount, quota: Number(value), periodEnd };
}
