import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import ical, { ICalCalendarMethod, type ICalEventData, ICalEventTransparency } from "ical-generator";
import type { z } from "zod";
import type { PluginEnv } from "../api/plugins.ts";
import type { Locale } from "../domain/locale.ts";
import { negotiateLocale } from "../domain/negotiate-locale.ts";
import { formatMoney } from "../domain/payments/money.ts";
import { priceIfChargedIn } from "../domain/plans/charged-price.ts";
import { type Plan, type PlanCatalog, pricesOf } from "../domain/plans/plan.ts";
import { Refusal } from "../domain/refusals/refusal.ts";
import { matchesEtag } from "../http/etag.ts";
import { calendarTexts } from "../messages/calendar-texts.ts";
import type { Call } from "../operations/call.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { execute } from "../operations/operation.ts";
import { listSubscriptions } from "../operations/subscriptions/list-subscriptions.ts";
import { showAccess } from "../operations/subscriptions/show-access.ts";
import type { SubscriptionView } from "../operations/subscriptions/subscription-view.ts";
import { showProfile } from "../operations/users/show-profile.ts";

/**
 * When the caller's subscriptions renew or end, as a calendar (RFC 5545) that calendar programs can subscribe
 * to.
 */
export const name = "renewals";

export const router = new Hono<PluginEnv>().get("/calendar.ics", serveCalendar);

/** Calendar programs send no header: each person has a secret address. */
export const linkRouter = new Hono<PluginEnv>().get("/calendar.ics", serveCalendar);

async function serveCalendar(c: Context<PluginEnv>): Promise<Response> {
  const { caller, deps } = c.var;
  // The request was charged to the plugin already.
  const call: Call = { caller, charges: [], isExempt: true };
  const { items: running } = await execute(showAccess, deps, call, () => ({}));
  const access = new Map(running.map((item) => [item.subscriptionId, item]));
  const locale = (await localeOf(call, deps)) ?? negotiateLocale(c.req.header("accept-language"));
  const reader = { locale, t: await calendarTexts(locale) };
  const text = calendarOf(await subscriptionsOf(call, deps), access, deps.plans, reader);
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  // Cached by the client alone, which revalidates it each time.
  const headers = { etag, "cache-control": "private, no-cache" };
  if (matchesEtag(c.req.header("if-none-match"), etag)) return c.body(null, 304, headers);
  return c.body(text, 200, {
    ...headers,
    "content-type": "text/calendar; charset=utf-8",
    "content-disposition": 'inline; filename="renewals.ics"',
  });
}

type Subscription = z.output<typeof SubscriptionView>;

/** `undefined`: unknown. */
type Access = z.input<typeof showAccess.output>["items"][number] | undefined;

async function subscriptionsOf(call: Call, deps: Dependencies): Promise<Subscription[]> {
  const subscriptions: Subscription[] = [];
  let cursor: string | null = null;
  do {
    const input = { limit: 100, cursor };
    const page: z.input<typeof listSubscriptions.output> = await execute(
      listSubscriptions,
      deps,
      call,
      () => input,
    );
    subscriptions.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return subscriptions;
}

/** The user's; `null` for a key that may not read it. */
async function localeOf(call: Call, deps: Dependencies): Promise<Locale | null> {
  try {
    return (await execute(showProfile, deps, call, () => ({}))).locale;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

type Reader = { locale: Locale; t: Awaited<ReturnType<typeof calendarTexts>> };

const DAY_SECONDS = 86_400;

function calendarOf(
  subscriptions: readonly Subscription[],
  access: ReadonlyMap<string, Access>,
  plans: PlanCatalog,
  reader: Reader,
): string {
  const calendar = ical({
    name: reader.t("name"),
    prodId: `//Tollgate//Renewals//${reader.locale.toUpperCase()}`,
    method: ICalCalendarMethod.PUBLISH,
    ttl: DAY_SECONDS,
    events: subscriptions.flatMap((subscription) =>
      eventOf(subscription, access.get(subscription.id), plans, reader),
    ),
  });
  // The generator omits the last line break.
  return `${calendar.toString()}\r\n`;
}

/** No event for a subscription that does not renew. A subscription keeps its UID and is updated in place. */
function eventOf(
  subscription: Subscription,
  access: Access,
  plans: PlanCatalog,
  reader: Reader,
): ICalEventData[] {
  const { id, status, currentPeriodEnd, cancelAtPeriodEnd, createdAt, updatedAt } = subscription;
  if (currentPeriodEnd === null || !RENEWING.has(status)) return [];
  const plan = plans.find(subscription.planId);
  const next = cancelAtPeriodEnd ? "ends" : access?.pausesAtPeriodEnd ? "pauses" : "renews";
  return [
    {
      id,
      // A point in time, not a day: the day depends on the reader's time zone.
      start: currentPeriodEnd,
      stamp: updatedAt,
      created: createdAt,
      lastModified: updatedAt,
      sequence: secondsBetween(createdAt, updatedAt),
      summary: plain(reader.t(next, { plan: plan?.name ?? subscription.planId })),
      description: plain(describe(subscription.seats, plan, access, reader)),
      transparency: ICalEventTransparency.TRANSPARENT,
    },
  ];
}

const RENEWING: ReadonlySet<string> = new Set<Subscription["status"]>(["trialing", "active", "past_due"]);

/** The list price for the interval that is paid: discounts are known to the provider alone. */
function describe(seats: number, plan: Plan | undefined, access: Access, { locale, t }: Reader): string {
  const number = t("seats", { seats });
  if (!plan) return number;
  const paid = access?.paidIn;
  const listed = pricesOf(plan).find(
    (price) => price.interval === paid?.interval && price.currency === paid.currency,
  );
  const price = priceIfChargedIn(listed ?? plan.price, access?.chargedCurrency ?? null);
  if (price === null) return number;
  const text = formatMoney(locale, price, { style: "currency" });
  return `${number}\n${t(`price.${price.interval}`, { price: text })}`;
}

/** Grows with every change, as RFC 5545, section 3.8.7.4, requires. */
function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000));
}

/** The format has no way to write control characters but the line's end. */
function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?!\n)\p{Cc}/gu, " ");
}
