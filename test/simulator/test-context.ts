import { randomUUID } from "node:crypto";
import plans from "../../plans.config.ts";
import type { PlanCatalog } from "../../src/domain/plans/plan.ts";
import { perSlot, type Slot } from "../../src/domain/slot.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { createPaymentApi } from "../../src/providers/create-payment-api.ts";
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "../../src/simulator/server/start-simulator.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";

export const API_KEY = "sim_key_of_the_tests";

type Options = Pick<SimulatorOptions, "deliverTo"> &
  Partial<Omit<SimulatorOptions, "host" | "port" | "slots" | "plans" | "log">> & {
    formats?: Partial<Record<Slot, WireFormat>>;
    secret?: string;
    catalog?: PlanCatalog;
  };

const FORMATS: Record<Slot, WireFormat> = {
  "provider-a": "stripe",
  "provider-b": "paddle",
  "provider-c": "polar",
};

export type TestSimulator = Simulator & {
  logged: string[];
  /**
   * Moves the clock as time passes: what is on its way arrives before anything comes due. Resolves when what
   * came due has arrived too.
   */
  passTime(by: string | number): Promise<void>;
};

/** A simulator on a free port, which ends with the test at the latest. */
export async function simulator({ formats, secret, catalog, ...options }: Options): Promise<TestSimulator> {
  const logged: string[] = [];
  const log = { info: () => {}, warn: (_facts: object, message: string) => void logged.push(message) };
  const running = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    slots: perSlot((slot) => ({
      format: formats?.[slot] ?? FORMATS[slot],
      apiKey: API_KEY,
      webhookSecret: secret ?? SECRETS[slot],
    })),
    plans: catalog ?? plans,
    stateFile: null,
    log,
    ...options,
  });
  const passTime = async (by: string | number) => {
    await running.settle();
    await control(running.url, "/clock", { by });
    await running.settle();
  };
  return { ...running, logged, passTime, close: cleanedUp(running.close) };
}

/** Presses a button of a page, as a browser does without JavaScript. Redirects are not followed. */
export function press(url: string, fields: Record<string, string>): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(url);
  return sendRequest(origin, "POST", pathname + search, {
    headers: { origin, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams(fields),
  });
}

/** Calls the control API. */
export async function control(url: string, path: string, body?: object) {
  const response = await sendRequest(url, body ? "POST" : "GET", `/control${path}`, { body });
  if (response.status >= 400) throw new Error(`${response.status} ${response.text}`);
  return response.body;
}

/** Opens a checkout, in provider-a unless another slot is given, as the product does. */
export function order(
  url: string,
  format: WireFormat,
  { slot = "provider-a", ...changes }: { slot?: Slot } & Record<string, unknown> = {},
): Promise<{ id: string; url: string }> {
  const connection = { slot, format, apiKey: API_KEY, apiUrl: `${url}/${slot}` };
  return createPaymentApi(connection).createCheckout({
    idempotencyKey: randomUUID(),
    priceId: "price_pro_monthly",
    seats: 1,
    userId: "user_0",
    planId: "pro",
    email: "user@example.com",
    isEmailConfirmed: false,
    customerId: null,
    successUrl: "http://localhost:3000/billing?checkout=completed",
    cancelUrl: "http://localhost:3000/billing?checkout=cancelled",
    trialDays: null,
    ...changes,
  });
}
