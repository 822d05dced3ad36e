import type { Tone } from "../../../ui/status.tsx";
import type { Subscription } from "./subscription-state.ts";

export const TONES: Record<Subscription["status"], Tone> = {
  incomplete: "warn",
  trialing: "good",
  active: "good",
  past_due: "bad",
  paused: "neutral",
  unpaid: "bad",
  canceled: "neutral",
};
