import { getTranslations } from "next-intl/server";
import { Stepper } from "../../../ui/stepper.tsx";
import type { Plan, Price } from "./plans.ts";

/** The number of seats with its price, where that is known. A fixed number is sent without being shown. */
export async function SeatsField({
  plan,
  price,
  locale,
  defaultValue,
}: {
  plan: Plan;
  price: Price | null;
  locale: string;
  defaultValue: number;
}) {
  const t = await getTranslations("billing");
  const { min, max } = plan.seats;
  if (min === max) return <input type="hidden" name="seats" value={min} />;
  const start = Math.min(max, Math.max(min, defaultValue));
  return (
    // Keyed: a change of plan elsewhere on the page starts it over, its total too.
    <Stepper
      key={start}
      label={t("seats")}
      help={t("seatsHelp", { min, max })}
      name="seats"
      min={min}
      max={max}
      defaultValue={start}
      labels={{ less: t("less"), more: t("more") }}
      each={price && { locale, total: t.raw(`price.${price.interval}`), ...price }}
    />
  );
}
