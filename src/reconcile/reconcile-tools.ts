import type { Payments } from "../domain/providers/payment-api.ts";
import type { Intake } from "../intake/intake.ts";

/** What every comparison with providers works with. */
export type ReconcileTools = { intake: Intake; payments: Payments };
