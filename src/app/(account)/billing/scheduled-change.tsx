import { CalendarClock } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { WithdrawForm } from "./change-steps.tsx";
import { expectedFields } from "./expected-fields.ts";
import { scheduledSentence } from "./scheduled-sentence.ts";
import type { Subscription } from "./subscription-state.ts";

/** What a subscription changes to at the end of its period, and a button that keeps it as it is. */
export async function ScheduledChange({ subscription }: { subscription: Subscription }) {
  const [t, sentence] = await Promise.all([
    getTranslations("billing.scheduled"),
    scheduledSentence(subscription.id),
  ]);
  const form = `withdraw ${subscription.id}`;
  if (sentence === null) return <WithdrawForm name={form} />;
  return (
    <div className="mt-4 flex flex-wrap items-center justify-between gap-3 rounded-box border border-line px-4 py-3">
      <p className="flex items-start gap-2">
        <CalendarClock aria-hidden="true" size={16} className="mt-1 shrink-0 text-muted" />
        {sentence}
      </p>
      <WithdrawForm name={form}>
        <input type="hidden" name="when" value="period_end" />
        <input type="hidden" name="id" value={subscription.id} />
        <input type="hidden" name="planId" value={subscription.planId} />
        <input type="hidden" name="seats" value={subscription.seats} />
        {Object.entries(expectedFields(subscription)).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <SubmitButton variant="secondary">{t("keep")}</SubmitButton>
      </WithdrawForm>
    </div>
  );
}
