import { getTranslations } from "next-intl/server";
import { listApiKeys } from "../../../operations/api-keys/list-api-keys.ts";
import { listNotifications } from "../../../operations/notifications/list-notifications.ts";
import { currentSubscription } from "../../../operations/subscriptions/current-subscription.ts";
import { listSubscriptions } from "../../../operations/subscriptions/list-subscriptions.ts";
import { PageHeader } from "../../../ui/page-header.tsx";
import { profile, read } from "../../gate/read.ts";
import { titled } from "../../titled.ts";
import { MultipleSubscriptionsWarning } from "../billing/multiple-subscriptions-warning.tsx";
import { renewingOf, withoutTakenBack } from "../billing/plans.ts";
import { currentFirst, isPaidTwice, isRunning } from "../billing/subscription-state.ts";
import { FirstSteps } from "./first-steps.tsx";
import { LatestNotifications } from "./latest-notifications.tsx";
import { PlanCard } from "./plan-card.tsx";
import { UsageCard } from "./usage-card.tsx";

export const generateMetadata = titled("dashboard.title");

export default async function DashboardPage() {
  const [t, user, live, previous, keys] = await Promise.all([
    getTranslations("dashboard"),
    profile(),
    read(currentSubscription, {}),
    read(listSubscriptions, { limit: 20 }),
    read(listApiKeys, { limit: 100 }),
  ]);
  if (previous.items.length === 0 && keys.items.length === 0) {
    return (
      <>
        <PageHeader title={t("welcome", { name: user.name })} description={t("welcomeAbout")} />
        <FirstSteps isOnboarded={user.onboarded} />
      </>
    );
  }
  const { items } = await read(listNotifications, { limit: 3 });
  const running = await withoutTakenBack(currentFirst(live, previous.items).filter(isRunning));
  const subscription = running[0] ?? (isRunning(live) ? null : live);
  return (
    <>
      <PageHeader title={t("title")} />
      <div className="grid gap-4 lg:grid-cols-2">
        {running.length > 1 ? (
          <div className="flex flex-col gap-4">
            {isPaidTwice(await renewingOf(running)) && <MultipleSubscriptionsWarning />}
            {running.map((each) => (
              <PlanCard key={each.id} subscription={each} />
            ))}
          </div>
        ) : (
          <PlanCard subscription={subscription} />
        )}
        <UsageCard subscription={subscription} keys={keys.items} />
        <div className="lg:col-span-2">
          <LatestNotifications notifications={items} />
        </div>
      </div>
    </>
  );
}
