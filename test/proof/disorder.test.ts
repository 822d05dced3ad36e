import { setTimeout as sleep } from "node:timers/promises";
import { it } from "vitest";
import { wireFormats } from "../../src/providers/registry.ts";
import { createRng, type Rng } from "../../src/simulator/scenario/rng.ts";
import { API_KEY, control, order, press, simulator } from "../simulator/test-context.ts";
import { freshDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { isFullProof, report } from "./proof.ts";

/** Per format: ten thousand in all, a hundred in the suite; `PROOF_SEEDS` for another number. */
const SEEDS = Number(process.env.PROOF_SEEDS ?? (isFullProof ? 2_500 : 25));
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1);
/** How many users are at it at once: a purchase asks the provider's API, which allows only so many requests. */
const AT_ONCE = 4;
/** Spread over the whole, so that the server also lives for long enough to do its work. */
const SEEDS_PER_KILL = Math.floor(SEEDS / Math.max(3, SEEDS / 100 + 1));
const FAULTS = { duplicate: 0.15, delay: 0.1, reorder: 0.25, drop: 0.1, corrupt: 0.05 };
const ACTIONS = ["seats", "plan", "cancel_at_period_end", "resume", "cancel_now"] as const;

/**
 * Nobody does anything about it: lost, doubled, swapped, delayed and damaged deliveries, of the same second among them,
 * and servers killed meanwhile. Each subscription ends as its provider has it.
 */
it.concurrent.each(wireFormats())(
  `${SEEDS} subscriptions with disordered events match the provider's in the format %s`,
  async (format) => {
    const test = await freshDatabase(FIRST_SEED + SEEDS);
    let server: ServerProcess;
    const sim = await simulator({
      formats: { "provider-a": format },
      deliverTo: () => `${server.url}/api/webhooks/provider-a`,
      // A retry after hours becomes one within a minute.
      timeScale: 500,
      keptEvents: 100_000,
    });
    server = await startServer();
    for (const [kind, share] of Object.entries(FAULTS)) {
      await control(sim.url, "/provider-a/faults", { kind, next: 0, share });
    }

    /** When its user did the last thing to it, of each subscription that has not been seen to match since. */
    const unmatchedSince = new Map<string, number>();
    const matchedAfterMs: number[] = [];
    const watch = watchSubscriptions();
    let lived = 0;
    let kills = 0;
    const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
          await live(seed);
          lived += 1;
          if (lived % SEEDS_PER_KILL === 0 && lived < SEEDS) await killAndRestart();
        }
      }),
    );
    await sim.settle();
    // A lost event is younger than half a minute at first, and left to its webhook until then.
    await eventually(() => differences(null), [], 240_000);
    const { ended, longestAccessMs } = await watch.stop();
    await report("disorder", {
      format,
      seeds: SEEDS,
      kills,
      "seconds until right, median": seconds(quantile(matchedAfterMs, 0.5)),
      p99: seconds(quantile(matchedAfterMs, 0.99)),
      longest: seconds(quantile(matchedAfterMs, 1)),
      ended: ended,
      "longest access after the end in seconds": seconds(longestAccessMs),
    });
    await server.end("SIGTERM");
    await sim.close();
    await test.drop();

    function startServer(): Promise<ServerProcess> {
      return spawnServer(test.url, {
        PROVIDER_A_ADAPTER: format,
        PROVIDER_A_API_KEY: API_KEY,
        PROVIDER_A_API_URL: `${sim.url}/provider-a`,
        SELF_HEAL: "on",
        RECONCILE: "on",
        RECONCILE_EVERY_SECONDS: "2",
        WEBHOOK_LEASE_SECONDS: "3",
      });
    }

    async function live(seed: number): Promise<void> {
      const rng = createRng(seed);
      const userId = `user_${seed}`;
      const email = `${userId}@example.com`;
      const checkout = await order(sim.url, format, { userId, email, seats: 2 });
      await press(checkout.url, { email, card: "4242 4242 4242 4242", action: "pay" });
      const [bought] = sim
        .subscriptions("provider-a")
        .filter((subscription) => subscription.userId === userId);
      if (bought === undefined) throw new Error(`seed ${seed}: nothing was bought`);
      const id = bought.providerSubscriptionId;
      const portal = sim.portalUrl("provider-a", id);
      for (let actions = rng.between(1, 5); actions > 0; actions -= 1) {
        if (rng.chance(0.5)) await sleep(rng.between(0, 300));
        // Skips a step that is not possible in the current state.
        await press(portal, { subscription: id, ...fieldsOf(rng) });
      }
      await reversePayments(rng, id as string);
      unmatchedSince.set(id as string, performance.now());
    }

    async function killAndRestart(): Promise<void> {
      kills += 1;
      await server.end("SIGKILL");
      server = await startServer();
    }

    /** How long each took to match, and for how long one that has ended at the provider still gave access here. */
    function watchSubscriptions(): { stop(): Promise<{ ended: number; longestAccessMs: number }> } {
      const watching = { over: false };
      const endedAt = new Map<string, number>();
      let longestAccessMs = 0;
      const look = async () => {
        const now = performance.now();
        for (const { status, providerSubscriptionId: id } of sim.subscriptions("provider-a")) {
          if (status !== "canceled" || id === null || endedAt.has(id)) continue;
          endedAt.set(id, now);
        }
        const rows = await test.rows<{ id: string }>(
          `select provider_subscription_id as id from subscription
           where provider_subscription_id = any ($1::text[]) and status in ('active', 'trialing', 'past_due')`,
          [[...endedAt.keys()]],
        );
        for (const { id } of rows) {
          longestAccessMs = Math.max(longestAccessMs, now - (endedAt.get(id) ?? now));
        }
        const pending = new Map(unmatchedSince);
        const different = new Set(
          (await differences([...pending.keys()])).map(({ expected }) => expected.providerSubscriptionId),
        );
        for (const [id, since] of pending) {
          if (different.has(id)) continue;
          matchedAfterMs.push(Math.max(0, now - since));
          unmatchedSince.delete(id);
        }
      };
      const running = (async () => {
        for (; !watching.over; await sleep(200)) await look();
        await look();
      })();
      return {
        stop: async () => {
          watching.over = true;
          await running;
          return { ended: endedAt.size, longestAccessMs };
        },
      };
    }

    /** @param ids of the provider's; `null`: all */
    /** Refunds in part, in full, or both, and disputes; Polar has no events for disputes. */
    async function reversePayments(rng: Rng, subscriptionId: string): Promise<void> {
      const payments = sim
        .payments("provider-a")
        .filter(({ providerSubscriptionId }) => providerSubscriptionId === subscriptionId);
      for (const { providerPaymentId: payment } of payments) {
        const action = rng.pick(["refund", "dispute", "nothing"] as const);
        if (action === "nothing" || (action === "dispute" && format === "polar")) continue;
        await control(sim.url, `/provider-a/${action}`, {
          payment,
          ...(rng.chance(0.5) ? { amount: 100 } : {}),
        });
        if (rng.chance(0.5))
          await control(sim.url, `/provider-a/refund`, { payment, amount: 200 }).catch(refundedInFull);
      }
    }

    async function differences(ids: string[] | null): Promise<Difference[]> {
      const rows = await test.rows<Stored>(
        `select user_id as "userId", provider_subscription_id as "providerSubscriptionId", plan_id as "planId", seats,
         status, cancel_at_period_end as "cancelAtPeriodEnd", out_of_order as "outOfOrder", array(
           select p.provider_payment_id || ' ' || p.amount || ' ' || p.currency || ' ' || p.status from payment p
           where p.provider = subscription.provider and p.provider_subscription_id = subscription.provider_subscription_id
         ) as payments
       from subscription where provider_subscription_id = any (coalesce($1::text[], array[provider_subscription_id]))`,
        [ids],
      );
      const stored = new Map(
        rows.map((row) => [row.providerSubscriptionId, { ...row, payments: row.payments.toSorted() }]),
      );
      const paid = Map.groupBy(sim.payments("provider-a"), (payment) => payment.providerSubscriptionId);
      return sim.subscriptions("provider-a").flatMap((truth) => {
        if (ids !== null && !ids.includes(truth.providerSubscriptionId as string)) return [];
        const ours = stored.get(truth.providerSubscriptionId as string);
        // Lemon Squeezy names users in deliveries only: without one, the subscription's user is unknown.
        if (ours === undefined && format === "lemon-squeezy") return [];
        const payments = (paid.get(truth.providerSubscriptionId as string) ?? [])
          .map((payment) =>
            [payment.providerPaymentId, payment.amount, payment.currency, payment.status].join(" "),
          )
          .sort();
        const expected = { ...truth, outOfOrder: false, payments };
        const isSame =
          ours !== undefined && JSON.stringify(sorted(ours)) === JSON.stringify(sorted(expected));
        return isSame ? [] : [{ expected, ours: ours ?? null }];
      });
    }
  },
  3_600_000,
);

type Stored = { providerSubscriptionId: string; payments: string[] } & Record<string, unknown>;

type Difference = { expected: { providerSubscriptionId: string | null }; ours: Stored | null };

function refundedInFull(error: unknown): void {
  if (!String(error).includes("422")) throw error;
}

function quantile(values: number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? 0;
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function sorted(facts: Record<string, unknown>): [string, unknown][] {
  return Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1));
}

function fieldsOf(rng: Rng): Record<string, string> {
  const action = rng.pick(ACTIONS);
  if (action === "seats") return { action, seats: String(rng.between(1, 9)) };
  if (action === "plan") return { action, price: rng.pick(["price_pro_monthly", "price_team_monthly"]) };
  return { action };
}
