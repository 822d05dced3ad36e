import { CircleAlert } from "lucide-react";
import { getFormatter, getTranslations } from "next-intl/server";
import { LinkElsewhere } from "../../ui/link-elsewhere.tsx";
import { access } from "./access.ts";

type Access = Awaited<ReturnType<typeof access>>[number];

/** What a person must know of a payment that is due or was taken back, on every page. */
export async function PaymentBanner() {
  const unpaid = (await access()).find(isWorthTelling);
  if (unpaid === undefined) return null;
  const [t, format] = await Promise.all([getTranslations("account.banner"), getFormatter()]);
  const plan = unpaid.planName;
  const date = unpaid.until === null ? "" : format.dateTime(unpaid.until, { dateStyle: "long" });
  return (
    <aside
      aria-label={t("label")}
      className="mb-6 flex items-start gap-2 rounded-box border border-bad bg-surface px-4 py-3"
    >
      <CircleAlert aria-hidden="true" size={16} className="mt-1 shrink-0 text-bad" />
      <p>
        {t(`reasons.${unpaid.reason}`, { plan, date })}{" "}
        <LinkElsewhere href="/billing" className="font-medium text-accent underline">
          {t("action")}
        </LinkElsewhere>
      </p>
    </aside>
  );
}

type WorthTelling = Access & { reason: "grace" | "grace_over" | "unpaid" | "refunded" | "disputed" };

function isWorthTelling(access: Access): access is WorthTelling {
  // What a single payment bought and was taken back stays so for ever: there is nothing to be done about it here.
  if (access.isOneTime) return false;
  // A plan may give access while a payment is due: the sentence would deny it.
  if (access.reason === "unpaid" && access.hasAccess) return false;
  return ["grace", "grace_over", "unpaid", "refunded", "disputed"].includes(access.reason);
}
