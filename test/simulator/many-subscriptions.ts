import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { simulatedProviderOf } from "../../src/simulator/registry.ts";
import type { CustomData, EventContext } from "../../src/simulator/renderer.ts";
import type { Simulator } from "../../src/simulator/server/start-simulator.ts";
import type { SimulatorState } from "../../src/simulator/server/state.ts";
import { order, press, simulator } from "./test-context.ts";

/** A simulator whose provider-a has so many subscriptions, with a payment each: one that was bought, and copies for `user_1` and up. */
export async function simulatorWith(
  format: WireFormat,
  count: number,
  { deliverTo = () => "http://127.0.0.1:9/webhooks" }: { deliverTo?: () => string } = {},
): Promise<Simulator & { stateFile: string }> {
  const stateFile = join(await mkdtemp(join(tmpdir(), "tollgate-simulator-")), "simulator.json");
  const options = {
    formats: { "provider-a": format },
    deliverTo,
    stateFile,
    timeScale: 100,
  } as const;
  const first = await simulator(options);
  const email = "user_0@example.com";
  const checkout = await order(first.url, format, { userId: "user_0", email, seats: 2 });
  await press(checkout.url, { email, card: "4242 4242 4242 4242", action: "pay" });
  await first.close();
  const state = JSON.parse(await readFile(stateFile, "utf8")) as SimulatorState;
  copy(state, format, count);
  await writeFile(stateFile, JSON.stringify(state));
  return Object.assign(await simulator(options), { stateFile });
}

function copy(state: SimulatorState, format: WireFormat, count: number): void {
  const slot = state.slots["provider-a"];
  const [original] = slot.subscriptions;
  const [customer] = slot.customers;
  const [payment] = slot.payments;
  if (!original || !customer || !payment) throw new Error("nothing was bought");
  const { renderer } = simulatedProviderOf(format);
  for (let n = 1; n < count; n += 1) {
    const userId = `user_${n}`;
    const ids = { userId, ...renderer.newIds(`${slot.run}m`, n) };
    const data: CustomData = { ...original.checkout.data, userId };
    const subscriptionData: CustomData = { ...original.checkout.subscriptionData, userId };
    slot.customers.push({
      ...customer,
      id: ids.customerId,
      email: `${userId}@example.com`,
      externalId: userId,
    });
    const id = `${original.checkout.id}${n}`;
    const checkout = { ...original.checkout, id, data, subscriptionData, externalId: userId };
    const { bought, startedAtSeconds } = original;
    slot.subscriptions.push({ ...structuredClone(original), ids, checkout });
    const { at, event, atSeconds, state: step } = payment;
    const paid: EventContext = {
      lifecycle: { bought, startedAtSeconds },
      step: { event, atSeconds, state: step },
      ...{ at, ids, run: slot.run, checkout: { ...checkout, portalUrl: null } },
    };
    slot.payments.push({
      ...structuredClone(payment),
      id: renderer.payments?.idOf(paid) ?? "",
      subscriptionId: ids.subscriptionId,
    });
  }
  // The purchase's deliveries were dropped, and are not sent again.
  slot.events = [];
}
