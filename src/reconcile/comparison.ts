import type { UnclearState } from "../domain/refusals/unclear-state.ts";
import type { Changes } from "../domain/subscriptions/changes.ts";
import type { Intake } from "../intake/intake.ts";
import type { Reconciler } from "./reconciler.ts";

/** The parts of the intake with which subscriptions are corrected. */
export type CompareDeps = Pick<Intake, "database" | "plans" | "leaseSeconds" | "hooks">;

export type Comparison =
  /** `null`: it matches the provider. */
  | { outcome: "compared"; changes: Changes | null }
  /** Unchanged. */
  | { outcome: "left"; because: UnclearState };

export type CompareOptions = {
  by: Reconciler;
  /** Whether to audit a comparison that has changed nothing too: one that somebody asked for singly. */
  audit: "each" | "changes";
  /** Reports what would change, and changes nothing. */
  dryRun: boolean;
  /** Whether a correction notifies the user and emits an event. */
  notify: boolean;
};
