import { CircleAlert } from "lucide-react";
import Link from "next/link";
import { getFormatter, getTranslations } from "next-intl/server";
import { HiddenOn } from "../../ui/hidden-on.tsx";
import { access, hasPaymentProblem } from "./access.ts";

/** What a person must know of a payment that is due or was taken back, on every page but the billing page. */
export async function PaymentBanner() {
  const unpaid = (await access()).find(hasPaymentProblem);
  if (unpaid === undefined) return null;
  const [t, format] = await Promise.all([getTranslations("account.banner"), getFormatter()]);
  const plan = unpaid.planName;
  const date = unpaid.until === null ? "" : format.dateTime(unpaid.until, { dateStyle: "long" });
  return (
    <HiddenOn path="/billing">
      <aside
        aria-label={t("label")}
        className="mb-6 flex items-start gap-2 rounded-box border border-bad bg-surface px-4 py-3"
      >
        <CircleAlert aria-hidden="true" size={16} className="mt-1 shrink-0 text-bad" />
        <p>
          {t(`reasons.${unpaid.reason}`, { plan, date })}{" "}
          <Link href="/billing" className="font-medium text-accent underline">
            {t("action")}
          </Link>
        </p>
      </aside>
    </HiddenOn>
  );
}
