import { getTranslations } from "next-intl/server";
import type { SubscriptionStatus } from "../../../domain/subscriptions/subscription-status.ts";
import { Status } from "../../../ui/status.tsx";
import { TONES } from "../billing/status-tones.ts";

/** A subscription's status in the reader's language. */
export async function SubscriptionStatusLabel({ status }: { status: SubscriptionStatus }) {
  const t = await getTranslations("adminSubscriptions");
  return <Status tone={TONES[status]}>{t(`status.${status}`)}</Status>;
}
