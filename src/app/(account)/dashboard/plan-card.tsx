import { getTranslations } from "next-intl/server";
import { freePlan } from "../../../domain/plans/free-plan.ts";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Status } from "../../../ui/status.tsx";
import { milestoneSentence } from "../billing/milestone-sentence.ts";
import { planName, plans } from "../billing/plans.ts";
import { scheduledSentence } from "../billing/scheduled-sentence.ts";
import { TONES } from "../billing/status-tones.ts";
import type { Subscription } from "../billing/subscription-state.ts";

/** The plan, and what happens next and when. */
export async function PlanCard({ subscription }: { subscription: Subscription | null }) {
  const [t, billing] = await Promise.all([getTranslations("dashboard"), getTranslations("billing")]);
  const free = freePlan(await plans());
  const scheduled = subscription && (await scheduledSentence(subscription.id));
  return (
    <Card
      title={t("plan")}
      action={<LinkButton href="/billing">{t(subscription ? "planWay" : "steps.planWay")}</LinkButton>}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <p className="wrap-anywhere font-semibold text-lg">
          {subscription ? await planName(subscription.planId) : (free?.name ?? billing("none"))}
        </p>
        {subscription ? (
          <Status tone={TONES[subscription.status]}>{billing(`status.${subscription.status}`)}</Status>
        ) : (
          <Status tone="neutral">{billing("noSubscription")}</Status>
        )}
      </div>
      <p className="mt-1 max-w-prose">
        {subscription ? await milestoneSentence(subscription) : billing("noneYet")}
      </p>
      {scheduled && <p className="mt-1 max-w-prose">{scheduled}</p>}
    </Card>
  );
}
