import { getFormatter, getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import type { z } from "zod";
import type { ApiKeyView } from "../../../operations/api-keys/api-key-view.ts";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Time } from "../../../ui/time.tsx";
import { isExpired } from "../api-keys/key-row.tsx";
import { planOf } from "../billing/plans.ts";
import { isRunning, type Subscription } from "../billing/subscription-state.ts";

type Keys = readonly z.output<typeof ApiKeyView>[];

/** Used and included seats and API keys. */
export async function UsageCard({ subscription, keys }: { subscription: Subscription | null; keys: Keys }) {
  const [t, billing, format] = await Promise.all([
    getTranslations("dashboard"),
    getTranslations("billing"),
    getFormatter(),
  ]);
  const max = subscription && (await planOf(subscription.planId))?.seats.max;
  const inForce = keys.filter((key) => !isExpired(key));
  const lastUse = Math.max(...keys.map(({ lastUsedAt }) => lastUsedAt?.getTime() ?? 0));
  return (
    <Card title={t("used")} action={<LinkButton href="/api-keys">{t("keysWay")}</LinkButton>}>
      <dl className="grid grid-cols-2 gap-4">
        <Figure
          label={isRunning(subscription) ? t("seats") : billing("seats")}
          description={max ? t("seatsAbout", { max }) : t(subscription ? "seatsPaid" : "seatsFree")}
        >
          {format.number(subscription?.seats ?? 1)}
        </Figure>
        <Figure
          label={t("keys")}
          description={
            lastUse > 0
              ? t.rich("keysUsed", { time: () => <Time key="time" at={new Date(lastUse)} /> })
              : t(keys.length > 0 ? "keysUnused" : "keysNone")
          }
        >
          {format.number(inForce.length)}
        </Figure>
      </dl>
    </Card>
  );
}

function Figure({
  label,
  description,
  children,
}: {
  label: string;
  description: ReactNode;
  children: ReactNode;
}) {
  return (
    <div>
      <dt className="text-muted text-sm">{label}</dt>
      <dd>
        <span className="font-semibold text-lg tabular-nums">{children}</span>
        <span className="block text-muted text-sm">{description}</span>
      </dd>
    </div>
  );
}
