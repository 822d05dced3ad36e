import { afterEach, expect, it } from "vitest";
import { cancelUnwanted } from "../../src/billing/cancel-unwanted.ts";
import { createPaymentApi } from "../../src/providers/create-payment-api.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import { createRng, type Rng } from "../../src/simulator/scenario/rng.ts";
import "../fixtures/fifth-provider.ts";
import { API_KEY, control, press } from "../simulator/test-context.ts";
import { cleanUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { createUser, type TestUser } from "../support/people.ts";
import { type ProviderContext, startProviderContext } from "../system/server/provider-context.ts";

/** `CHECKOUT_INTERLEAVINGS=1000` runs the whole proof. */
const RUNS = Number(process.env.CHECKOUT_INTERLEAVINGS ?? 6);
const SEED = Number(process.env.CHECKOUT_SEED ?? 1);
const CARD = "4242 4242 4242 4242";

// Together, their servers would take most connections that PostgreSQL allows.
afterEach(cleanUp);

it.each(wireFormats())(
  `never charges a user twice or a deleted account, in ${RUNS} random interleavings with %s`,
  async (format) => {
    const context = await startProviderContext(format, { timeScale: 1_000 });
    for (let run = 0; run < RUNS; run += 1) {
      const seed = SEED + run;
      await interleave(context, createRng(seed), format, `CHECKOUT_SEED=${seed}`);
    }
  },
  Math.max(120_000, RUNS * 4_000),
);

async function interleave(context: ProviderContext, rng: Rng, format: string, about: string): Promise<void> {
  const { sim, test, post } = context;
  const person = await createUser(test);
  const urls: string[] = [];
  let isDeleted = false;
  const order = async () => {
    const response = await post("/api/checkout", person, { planId: rng.pick(["pro", "team"]) });
    expect([200, 401, 404, 409, 503], `${about}: ${response.text}`).toContain(response.status);
    if (response.body?.url) urls.push(response.body.url);
  };
  const steps: Record<string, () => Promise<unknown>> = {
    order,
    "order twice at once": () => Promise.all([order(), order()]),
    // A client that disconnects does not learn which checkout was created.
    "lose the answer": () => lostOrder(context, person, rng),
    pay: () => pay(urls.at(-1), person),
    "pay an old page": () => pay(urls[0], person),
    "hold webhooks back": () => control(sim.url, "/provider-a/faults", { kind: "drop", share: 1 }),
    "let webhooks through": () => letThrough(context),
    "pay while ordering": () => Promise.all([pay(urls.at(-1), person), order()]),
    delete: async () => {
      const body = { json: { confirmation: person.email } };
      const response = await post("/api/trpc/user.deleteAccount", person, body);
      isDeleted ||= response.status === 200;
    },
  };
  const names = Object.keys(steps);
  const stepNames: string[] = [];
  for (let n = rng.between(4, 9); n > 0; n -= 1) {
    const name = rng.pick(names);
    stepNames.push(name);
    await steps[name]?.();
    // Lemon Squeezy cancels at the period's end.
    if (format !== "lemon-squeezy") expectAtMostOne(context, person, `${about}: ${stepNames.join(", ")}`);
  }

  // Then every checkout that can still be paid is paid, and all webhooks arrive.
  const { checkouts } = (await control(sim.url, "/state")).slots["provider-a"];
  const open = checkouts.filter(
    (checkout: { email: string; status: string }) =>
      checkout.email === person.email && checkout.status === "open",
  );
  const story = `${about}: ${stepNames.join(", ")}`;
  if (isDeleted && ["stripe", "paddle", "acme-pay"].includes(format)) expect(open, story).toEqual([]);
  for (const { url } of open) await pay(url, person);
  await letThrough(context);
  const slot = "provider-a" as const;
  const api = createPaymentApi({ slot, format, apiKey: API_KEY, apiUrl: `${sim.url}/provider-a` });
  const payments = { "provider-a": api, "provider-b": null, "provider-c": null };
  await eventually(async () => {
    await test.rows("update unwanted_subscription set next_attempt_at = clock_timestamp()");
    await cancelUnwanted({ database: test.database, payments, log: { error: () => {} } }, () => false);
    return running(context, person).length <= (isDeleted ? 0 : 1);
  }, true).catch(() => {});
  expect(running(context, person).length, story).toBeLessThanOrEqual(isDeleted ? 0 : 1);
}

/** Subscriptions that continue to be charged. */
function running({ sim }: ProviderContext, person: TestUser) {
  return sim
    .subscriptions("provider-a")
    .filter(({ userId }) => userId === person.id)
    .filter(({ status, cancelAtPeriodEnd }) => status !== "canceled" && !cancelAtPeriodEnd);
}

function expectAtMostOne(context: ProviderContext, person: TestUser, story: string): void {
  expect(running(context, person).length, story).toBeLessThanOrEqual(1);
}

async function pay(url: string | undefined, person: TestUser): Promise<void> {
  if (url) await press(url, { email: person.email, card: CARD, action: "pay" });
}

async function lostOrder({ server }: ProviderContext, { cookie }: TestUser, rng: Rng): Promise<void> {
  const signal = AbortSignal.timeout(rng.between(1, 30));
  const headers = { cookie, "content-type": "application/json" };
  const body = JSON.stringify({ planId: rng.pick(["pro", "team"]) });
  await fetch(`${server.url}/api/checkout`, { method: "POST", headers, body, signal }).catch(() => {});
}

async function letThrough({ sim }: ProviderContext): Promise<void> {
  await control(sim.url, "/provider-a/faults", { kind: "drop", share: 0 });
  await control(sim.url, "/provider-a/redeliver", {});
  await sim.settle();
}
