import Link from "next/link";
import { getFormatter, getTranslations } from "next-intl/server";
import { planName } from "./plans.ts";
import type { Subscription } from "./subscription-state.ts";

/** Whoever has had several chooses whose history to see. */
export async function SubscriptionTabs({
  all,
  shown,
}: {
  all: readonly Subscription[];
  shown: Subscription;
}) {
  if (all.length < 2) return null;
  const t = await getTranslations("billing.history");
  return (
    <nav aria-label={t("subscriptions")} className="mb-6">
      <ul className="flex flex-wrap gap-2 text-sm">
        {all.map((subscription) => (
          <li key={subscription.id}>
            <Link
              href={subscription.id === all[0]?.id ? "/billing" : `/billing?subscription=${subscription.id}`}
              prefetch={false}
              scroll={false}
              aria-current={subscription.id === shown.id ? "page" : undefined}
              className="inline-block rounded-full border border-line px-3 py-1 hover:bg-raised aria-[current=page]:border-accent aria-[current=page]:font-medium"
            >
              <Name of={subscription} />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

async function Name({ of }: { of: Subscription }) {
  const [t, format, plan] = await Promise.all([
    getTranslations("billing.history"),
    getFormatter(),
    planName(of.planId),
  ]);
  return t("since", { plan, date: format.dateTime(of.createdAt, { dateStyle: "medium" }) });
}
