import { getTranslations } from "next-intl/server";
import type { DeliveryStatus } from "../../../../domain/deliveries/delivery.ts";
import { Status, type Tone } from "../../../../ui/status.tsx";

const TONES: Record<DeliveryStatus, Tone> = { successful: "good", failed: "bad", pending: "warn" };

/** A delivery's status in the reader's language. */
export async function DeliveryStatusLabel({ status }: { status: DeliveryStatus }) {
  const t = await getTranslations("adminWebhooks");
  return <Status tone={TONES[status]}>{t(`status.${status}`)}</Status>;
}
