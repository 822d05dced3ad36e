import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { EventEndpoint } from "../../../../operations/event-endpoints/endpoint-view.ts";
import type { OutboundDelivery } from "../../../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { Status, type Tone } from "../../../../ui/status.tsx";

const DELIVERY_TONES: Record<OutboundDelivery["status"], Tone> = {
  delivered: "good",
  failed: "bad",
  pending: "warn",
};

type State = Pick<z.output<typeof EventEndpoint>, "enabled" | "disabledAt">;

/** Paused by somebody, or disabled after failures. */
export async function EndpointStatus({ endpoint: { enabled, disabledAt } }: { endpoint: State }) {
  const t = await getTranslations("adminEventEndpoints.status");
  if (enabled) return <Status tone="good">{t("enabled")}</Status>;
  if (disabledAt !== null) return <Status tone="bad">{t("disabled")}</Status>;
  return <Status tone="neutral">{t("paused")}</Status>;
}

export async function OutboundStatus({ status }: { status: OutboundDelivery["status"] }) {
  const t = await getTranslations("adminEventEndpoints.log.status");
  return <Status tone={DELIVERY_TONES[status]}>{t(status)}</Status>;
}
