/*
 * A payment provider on this machine, for trying the whole product without an account at any provider. For
 * each slot it speaks the format that the slot is bound to: that provider's API under `<url>/<slot>`, its
 * hosted checkout and portal, a clock that can be moved forward, and webhooks with its signatures, order and
 * retries. `<url>/` is the page with controls and faults; `/control/*` is the same for programs. Not safe on
 * the internet.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { PaymentStatus } from "../../domain/payments/payment.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import { startDispatcher, type WebhookDispatcher } from "../delivery/webhook-dispatcher.ts";
import { simulatedProviderOf } from "../registry.ts";
import { expectedState } from "../scenario/expected-state.ts";
import { everyOfferOf } from "../scenario/prepare.ts";
import { createProviderApp } from "./app.ts";
import { moveClock, nextDueMs } from "./move-clock.ts";
import { chargedAmount, paymentStatus } from "./payments.ts";
import { portalUrl } from "./portal-link.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import { restoreState } from "./restore-state.ts";
import type { SimulatorLog } from "./simulator-log.ts";
import type { QueuedEvent } from "./state.ts";
import { openStateFile } from "./state-file.ts";

export type SimulatorOptions = {
  host: string;
  /** 0: any free port. */
  port: number;
  slots: Record<Slot, { format: WireFormat; apiKey: string; webhookSecret: string }>;
  plans: PlanCatalog;
  /** The absolute URL of a slot's endpoint; evaluated per delivery. */
  deliverTo(slot: Slot): string;
  /** The fallback return URL: Paddle and Lemon Squeezy keep it in their dashboards. */
  returnUrl?(slot: Slot): string;
  /** The state's file; `null`: nothing is stored. */
  stateFile: string | null;
  log: SimulatorLog;
  /**
   * For tests: whether changes are written to the file; with very many subscriptions each write takes
   * seconds.
   */
  storesChanges?: boolean;
  /** For tests: the factor that shortens retry pauses, and the response timeout. */
  timeScale?: number;
  answerWithinMs?: number;
  keptEvents?: number;
};

/** A subscription's state at the provider. */
type KnownSubscription = ReturnType<typeof expectedState>;

type KnownPayment = {
  providerPaymentId: string;
  providerSubscriptionId: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
};

export type SimulatedEvent = Pick<QueuedEvent, "subscriptionId" | "madeAtMs" | "status" | "tries">;

export type Simulator = {
  url: string;
  close(): Promise<void>;
  /** Resolves when all deliveries and retries are done. */
  settle(): Promise<void>;
  /** As the provider has them. */
  subscriptions(slot: Slot): KnownSubscription[];
  /** As a receiver of all events must have stored them, the oldest first. */
  payments(slot: Slot): KnownPayment[];
  /** The newest, with the attempts to deliver them. */
  events(slot: Slot): readonly SimulatedEvent[];
  /** The customer portal of a subscription. */
  portalUrl(slot: Slot, providerSubscriptionId: string): string;
  /** The current signing secret of the slot. */
  secret(slot: Slot): string;
};

/** The server may be starting at the same time. */
const FIRST_DELIVERY_AFTER_MS = 1_000;
const KEPT_EVENTS = 500;
const CHECK_CLOCK_EVERY_MS = 30_000;
const KEEP_ALIVE_MS = 10 * 60_000;

/** @throws when the port is in use */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { log, timeScale = 1 } = options;
  const state = await restoreState(options);
  const file = openStateFile(options.storesChanges === false ? null : options.stateFile, state, log);
  const clock = {
    nowMs: () => Date.now() + state.aheadMs,
    moveTo: (ms: number) => {
      state.aheadMs = Math.max(state.aheadMs, Math.round(ms - Date.now()));
    },
  };
  const dispatchers = new Map<Slot, WebhookDispatcher>();
  let origin = "";
  const slots = SLOTS.map((slot): ProviderSlot => {
    const { format, apiKey } = options.slots[slot];
    const { traits, renderer } = simulatedProviderOf(format);
    return {
      name: slot,
      apiKey,
      timeScale,
      keptEvents: options.keptEvents ?? KEPT_EVENTS,
      traits,
      renderer,
      offers: everyOfferOf(options.plans, slot),
      state: state.slots[slot],
      nowMs: clock.nowMs,
      url: () => `${origin}/${slot}`,
      returnUrl: () => options.returnUrl?.(slot) ?? null,
      changed: () => {
        void file.save();
        dispatchers.get(slot)?.wake();
      },
    };
  });
  for (const slot of slots) {
    const dispatcher = startDispatcher(slot, {
      deliverTo: () => options.deliverTo(slot.name),
      answerWithinMs: options.answerWithinMs ?? null,
      changed: () => void file.save(),
    });
    dispatchers.set(slot.name, dispatcher);
  }
  const moveTo = (ms: number) => {
    moveClock(clock, slots, ms);
    for (const slot of slots) slot.changed();
  };
  const app = createProviderApp({
    host: options.host,
    slots,
    clock: { ...clock, moveTo },
    saved: file.save,
    deliverTo: options.deliverTo,
  });
  const server = createServer(getRequestListener(app.fetch));
  // Longer than any client keeps an idle connection: none is closed while a request is on its way.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  origin = `http://${nameOf(options.host)}:${port}`;
  const first = setTimeout(() => moveTo(clock.nowMs()), FIRST_DELIVERY_AFTER_MS / timeScale).unref();
  const clockTimer = setInterval(() => {
    const dueMs = nextDueMs(slots);
    if (dueMs !== null && dueMs <= clock.nowMs()) moveTo(clock.nowMs());
  }, CHECK_CLOCK_EVERY_MS).unref();
  log.info({ url: origin }, "the simulated payment provider listens");
  return {
    url: origin,
    settle: async () => {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.settled()));
    },
    portalUrl: (name, id) => {
      const slot = slots.find((candidate) => candidate.name === name) as ProviderSlot;
      const subscription = slot.state.subscriptions.find(({ ids }) => ids.subscriptionId === id);
      if (subscription === undefined) throw new Error(`no subscription ${id}`);
      return portalUrl(slot, { customerId: subscription.ids.customerId, returnUrl: null });
    },
    secret: (slot) => state.slots[slot].secret,
    subscriptions: (slot) =>
      state.slots[slot].subscriptions.map(({ state: billing, ids }) =>
        expectedState(billing, ids, simulatedProviderOf(state.slots[slot].format).renderer),
      ),
    payments: (slot) =>
      state.slots[slot].payments.map((payment) => ({
        providerPaymentId: payment.id,
        providerSubscriptionId: payment.subscriptionId,
        amount: chargedAmount(payment),
        currency: payment.state.offer.currency,
        status: paymentStatus(payment),
      })),
    events: (slot) => state.slots[slot].events,
    close: async () => {
      clearTimeout(first);
      clearInterval(clockTimer);
      for (const dispatcher of dispatchers.values()) dispatcher.close();
      await new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      });
      await file.save();
    },
  };
}

/** The name of the host from this machine. */
function nameOf(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
