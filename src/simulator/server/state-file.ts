import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { SLOTS } from "../../domain/slot.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import type { SimulatorLog } from "./simulator-log.ts";
import type { SimulatedPayment, SimulatorState, SlotState } from "./state.ts";

export type StateFile = {
  /** Writes the current state; resolves when it is on disk. Concurrent calls share a write. */
  save(): Promise<void>;
};

/** The state of an earlier run, or `null`. An unreadable file is renamed. */
export async function loadState(file: string, log: SimulatorLog): Promise<SimulatorState | null> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const state = parseState(text);
  if (state !== null) return state;
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(":", "")}`;
  await rename(file, aside);
  log.warn(
    { file, aside },
    "the simulator's state file is damaged: renamed, and started with an empty state",
  );
  return null;
}

export function openStateFile(file: string | null, state: SimulatorState, log: SimulatorLog): StateFile {
  if (file === null) return { save: async () => {} };
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const write = async () => {
    try {
      await writeWhole(file, JSON.stringify(state));
    } catch (error) {
      log.warn({ file, reason: (error as Error).message }, "the simulator's state could not be written");
    }
  };
  const begin = () => {
    running = write().finally(() => {
      running = null;
    });
    return running;
  };
  return {
    save: () => {
      if (running === null) return begin();
      // Changes during a write need one more, which all waiting calls share.
      next ??= running.then(() => {
        next = null;
        return begin();
      });
      return next;
    },
  };
}

async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.draft`;
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

function parseState(text: string): SimulatorState | null {
  try {
    const state = JSON.parse(text) as SimulatorState;
    const isWhole =
      state.version === 3 &&
      Number.isFinite(state.aheadMs) &&
      SLOTS.every(
        (slot) => Array.isArray(state.slots[slot].events) && Array.isArray(state.slots[slot].subscriptions),
      );
    if (!isWhole) return null;
    for (const slot of SLOTS) complete(state.slots[slot]);
    return state;
  } catch {
    return null;
  }
}

/** Adds what earlier states lack. */
function complete(state: SlotState): void {
  state.payments ??= [];
  state.coupons ??= [];
  state.promotionCodes ??= [];
  state.redemptions ??= [];
  for (const payment of state.payments) payment.reversals ??= refundOf(payment);
  for (const customer of state.customers)
    customer.data ??= customer.externalId === null ? {} : { userId: customer.externalId };
}

/** Earlier states have only a refunded amount. */
function refundOf(payment: SimulatedPayment): Reversal[] {
  const { refundedAmount: amount = 0 } = payment as { refundedAmount?: number };
  if (amount === 0) return [];
  const { atSeconds } = payment;
  const times = { createdAtSeconds: atSeconds, changedAtSeconds: atSeconds };
  return [{ number: 1, kind: "refund", amount, isWon: false, ...times }];
}
