import type { Slot } from "../domain/slot.ts";
import type { Compared } from "./not-corrected.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import type { FieldDrift } from "./subscription-drift.ts";

export type VerificationOptions = {
  slots: readonly Slot[];
  /** How many subscriptions of each slot to check, with their payments, chosen at random; `null`: all. */
  sample: number | null;
  /** Corrects differences to match the provider. */
  repair: boolean;
  /** Whether a repair notifies users. */
  notify: boolean;
  progressed: (checked: number, total: number) => void;
};

export type Drift = FieldDrift & {
  kind: "subscription" | "payment";
  /** Our id; `null`: only the provider knows it. */
  id: string | null;
  slot: Slot;
  providerId: string;
  /** The provider's id of the last event that changed it. */
  lastEventId: string | null;
};

export type VerifyReport = {
  checked: number;
  drift: Drift[];
  /** How many subscriptions and payments were corrected. */
  repaired: number;
  /** What could not be checked or repaired. */
  failed: { slot: Slot; providerId: string | null; reason: string }[];
  /** Whether an error kept something from being checked or corrected. */
  isIncomplete: boolean;
  /** Slots without a provider's API key: not checked, and `failed` too where they have anything to check. */
  unconfigured: Slot[];
};

/** A run as its parts see it. */
export type Verification = {
  readonly tools: ReconcileTools;
  readonly options: VerificationOptions;
  /** Runs a check, which counts as failed where the provider reports a problem. */
  checkOrFail(slot: Slot, providerId: string | null, check: () => Promise<void>): Promise<void>;
  /** With `repair`, runs a repair, which counts as failed where it throws. @throws an error that concerns all */
  repairOrFail(compared: Compared, repair: () => Promise<void>): Promise<void>;
  /** One more was compared. */
  check(): void;
  drift(drift: Drift): void;
  repaired(): void;
  /** An error kept it from being checked or corrected. */
  fail(slot: Slot, providerId: string | null, reason: string): void;
  /** It differs, which has been reported, and the provider's answer does not correct it. */
  leave(slot: Slot, providerId: string, reason: string): void;
};
