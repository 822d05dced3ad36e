import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import { supportedLocale } from "../../domain/locale.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Intake } from "../../intake/intake.ts";
import type { Queryable } from "../../store/database.ts";
import type { Mapping } from "../mapping.ts";
import type { Source } from "../run-import.ts";
import { readState, type SubscriptionRow } from "../subscription-row.ts";
import type { SourceUser } from "../user-row.ts";
import { column, type ForeignRow, readForeignTable, textColumn, timeColumn } from "./foreign-table.ts";
import { identityOf } from "./provider.ts";

export type BetterAuth = { database: Queryable; url: string };

/**
 * The users of Better Auth, with their ids. Its column names are written `emailVerified` or `email_verified`.
 */
export function betterAuthUsers({ database, url }: BetterAuth): Source<SourceUser> {
  return {
    identity: ["users", "better-auth", url],
    read: (position) =>
      readForeignTable(database, '"user"', position, ({ id, email, name, ...row }) => ({
        fields: {
          id,
          externalId: null,
          email,
          name,
          locale: supportedLocale(column(row, "locale", "language")),
        },
      })),
  };
}

/** The subscriptions of Better Auth's Stripe plugin, whose reference is a user's id. */
export function betterAuthSubscriptions(
  { adapters, plans }: Pick<Intake, "adapters" | "plans">,
  slot: Slot,
  { database, url }: BetterAuth,
  mapping: Mapping,
): Source<SubscriptionRow> {
  const adapter = adapters.of("stripe");
  return {
    identity: ["subscriptions", slot, "better-auth", url, identityOf(mapping)],
    read: (position) =>
      readForeignTable(database, '"subscription"', position, (row): SubscriptionRow => {
        const providerSubscriptionId = textColumn(row, "stripeSubscriptionId", "stripe_subscription_id");
        const { state, problem } = readState(adapter, { data: { object: stripeObject(row) } });
        return {
          providerSubscriptionId,
          state: state && withPlan(state, row, plans),
          problem,
          email: null,
          // The table has no time of the last event.
          readAtMicros: null,
        };
      }),
  };
}

/** What the plugin has copied, as Stripe shows it. */
function stripeObject(row: ForeignRow): object {
  const periodEnd = timeColumn(row, "periodEnd", "period_end");
  const seats = column(row, "seats");
  return {
    id: textColumn(row, "stripeSubscriptionId", "stripe_subscription_id"),
    customer: textColumn(row, "stripeCustomerId", "stripe_customer_id"),
    status: column(row, "status"),
    cancel_at_period_end: column(row, "cancelAtPeriodEnd", "cancel_at_period_end") === true,
    cancel_at: seconds(timeColumn(row, "cancelAt", "cancel_at")),
    metadata: { userId: textColumn(row, "referenceId", "reference_id") },
    items: {
      data: [
        {
          quantity: typeof seats === "number" ? seats : 1,
          ...(periodEnd === null ? {} : { current_period_end: seconds(periodEnd) }),
        },
      ],
    },
  };
}

function seconds(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / 1000);
}

/** Its plans have names of their own: a name that is one of our plans' ids, in any case, is that plan. */
function withPlan(state: PaymentEvent, row: ForeignRow, plans: PlanCatalog): PaymentEvent {
  const name = textColumn(row, "plan") ?? "";
  const plan = plans.find(name.toLowerCase());
  return { ...state, planId: plan?.id ?? name };
}
