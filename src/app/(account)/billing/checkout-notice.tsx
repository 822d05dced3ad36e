import { CircleCheck, Clock, Info } from "lucide-react";
import Link from "next/link";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { AutoRefresh } from "./auto-refresh.tsx";
import { isConfirmed, isRunning, type Subscription } from "./subscription-state.ts";

const EVERY_SECONDS = 3;
const TRIES = 20;

/** The checkout's result after returning from the provider's page, as far as it is known. */
export async function CheckoutNotice({
  checkout,
  tried,
  subscription,
}: {
  checkout: string | undefined;
  /** How many times the page has refreshed itself without JavaScript. */
  tried: number;
  subscription: Subscription | null;
}) {
  const t = await getTranslations("billing.checkout");
  if (checkout === "cancelled") {
    // Another tab has paid, or the address is an old one.
    if (isRunning(subscription)) return null;
    return <Notice icon={<Info aria-hidden="true" size={20} />} title={t("cancelled")} />;
  }
  if (checkout !== "completed") return null;
  if (isConfirmed(subscription)) {
    return (
      <Notice
        icon={<CircleCheck aria-hidden="true" size={20} className="text-good" />}
        title={t("completed")}
      />
    );
  }
  const retryUrl = `/billing?checkout=completed&tried=${tried + 1}`;
  const refreshLink = (
    <Link href={retryUrl} prefetch={false} className="underline">
      {t("look")}
    </Link>
  );
  return (
    <Notice icon={<Clock aria-hidden="true" size={20} />} title={t("waiting")}>
      <AutoRefresh everySeconds={EVERY_SECONDS} times={TRIES} late={t("late")}>
        {refreshLink}
      </AutoRefresh>
      <noscript>
        {tried < TRIES ? (
          <meta httpEquiv="refresh" content={`${EVERY_SECONDS}; url=${retryUrl}`} />
        ) : (
          <p>{t("late")}</p>
        )}
        {refreshLink}
      </noscript>
    </Notice>
  );
}

function Notice({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div
      role="status"
      className="mb-4 flex items-start gap-3 rounded-box border border-line bg-surface p-4 shadow-box"
    >
      <span className="mt-0.5 shrink-0">{icon}</span>
      <div>
        <p className="max-w-prose">{title}</p>
        {children}
      </div>
    </div>
  );
}
