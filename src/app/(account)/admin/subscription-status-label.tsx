import { getTranslations } from "next-intl/server";
import { cache } from "react";
import type { SubscriptionStatus } from "../../../domain/subscription-status.ts";
import { listPlans } from "../../../operations/plans/list-plans.ts";
import { Status, type Tone } from "../../../ui/status.tsx";
import { read } from "../../gate/read.ts";

const TONES: Record<SubscriptionStatus, Tone> = {
  incomplete: "warn",
  trialing: "good",
  active: "good",
  past_due: "bad",
  paused: "warn",
  unpaid: "bad",
  canceled: "neutral",
};

/** A subscription's status in the reader's language. */
export async function SubscriptionStatusLabel({ status }: { status: SubscriptionStatus }) {
  const t = await getTranslations("adminSubscriptions");
  return <Status tone={TONES[status]}>{t(`status.${status}`)}</Status>;
}

const plans = cache(() => read(listPlans, { limit: 100 }));

/** The plan's name; its id when it is no longer in the file. */
export async function planName(id: string): Promise<string> {
  return (await plans()).items.find((plan) => plan.id === id)?.name ?? id;
}
