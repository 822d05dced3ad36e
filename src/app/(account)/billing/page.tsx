import { getTranslations } from "next-intl/server";
import { showCheckout } from "../../../operations/billing/show-checkout.ts";
import { listPayments } from "../../../operations/payments/list-payments.ts";
import { currentSubscription } from "../../../operations/subscriptions/current-subscription.ts";
import { listSubscriptions } from "../../../operations/subscriptions/list-subscriptions.ts";
import { showHistory } from "../../../operations/subscriptions/show-history.ts";
import { showSubscription } from "../../../operations/subscriptions/show-subscription.ts";
import { PageHeader } from "../../../ui/page-header.tsx";
import { formAction } from "../../gate/form-action.ts";
import { read } from "../../gate/read.ts";
import { textParam } from "../../gate/text-param.ts";
import { withRefusalPage } from "../../gate/with-refusal-page.tsx";
import { titled } from "../../titled.ts";
import { changeSubscription } from "./actions.ts";
import { ChangeForms } from "./change-steps.tsx";
import { CheckoutNotice } from "./checkout-notice.tsx";
import { CurrentPlan, NoPlan } from "./current-plan.tsx";
import { EntitlementsCard } from "./entitlements-card.tsx";
import { History } from "./history.tsx";
import { MultipleSubscriptionsWarning } from "./multiple-subscriptions-warning.tsx";
import { Payments } from "./payments.tsx";
import { PlanChoice } from "./plan-choice.tsx";
import { renewingOf, withoutTakenBack } from "./plans.ts";
import { currentFirst, isConfirmed, isPaidTwice, isRunning } from "./subscription-state.ts";

const PAYMENTS_PER_PAGE = 10;

export const generateMetadata = titled("billing.title");

export default withRefusalPage(async function BillingPage({ searchParams }: PageProps<"/billing">) {
  const query = await searchParams;
  const checkout = textParam(query.checkout) ?? undefined;
  // Before the subscriptions: the one that it may know of is among them then.
  const lastCheckout = checkout === "completed" ? (await read(showCheckout, {})).state : null;
  const [t, live, previous] = await Promise.all([
    getTranslations("billing"),
    read(currentSubscription, {}),
    read(listSubscriptions, { limit: 20 }),
  ]);
  const selectedId = textParam(query.subscription);
  const all = currentFirst(live, previous.items);
  // Checkouts in two tabs can both be paid: every charge must be visible.
  const running = await withoutTakenBack(all.filter(isRunning));
  const current = running[0] ?? (isRunning(live) ? null : live);
  const renewing = await renewingOf(running);
  const shown =
    selectedId === null ? (current ?? all[0] ?? null) : await read(showSubscription, { id: selectedId });
  const [historyCursor, paymentsCursor] = [textParam(query.cursor), textParam(query.payments)];
  const selection = selectedId === null ? {} : { subscription: selectedId };
  const [history, payments] = await Promise.all([
    shown && read(showHistory, { id: shown.id, cursor: historyCursor }),
    read(listPayments, { limit: PAYMENTS_PER_PAGE, cursor: paymentsCursor }),
  ]);
  const confirmed = renewing.find(isConfirmed) ?? null;
  const isUnconfirmed = checkout === "completed" && confirmed === null;
  // The address stays in a tab's history: what was paid for may have ended. What is owned may have been sold elsewhere.
  const isAwaited =
    isUnconfirmed &&
    (renewing.length > 0 || lastCheckout === "open" || (lastCheckout === "none" && running.length === 0));
  const checkoutNotice = (!isUnconfirmed || isAwaited) && (
    <CheckoutNotice
      checkout={checkout}
      tried={Number(textParam(query.tried)) || 0}
      subscription={confirmed ?? renewing[0] ?? null}
    />
  );
  return (
    <>
      <PageHeader title={t("title")} />
      {/* Stays until the payment is confirmed, whatever is changed meanwhile. */}
      {isAwaited && checkoutNotice}
      <ChangeForms action={formAction(changeSubscription)} onArrival={!isAwaited && checkoutNotice}>
        <div className="flex flex-col gap-4">
          {isPaidTwice(renewing) && <MultipleSubscriptionsWarning />}
          {running.length > 1
            ? running.map((subscription) => <CurrentPlan key={subscription.id} subscription={subscription} />)
            : current && !(isAwaited && !isRunning(current)) && <CurrentPlan subscription={current} />}
          {/* The plan just paid for is not offered again, nor said to be unpaid. */}
          {!current && !isAwaited && <NoPlan endedAs={all[0] ?? null} />}
          {!isAwaited && <EntitlementsCard />}
          {!isAwaited && (
            <PlanChoice
              subscription={renewing[0] ?? current}
              selectedId={textParam(query.plan)}
              interval={textParam(query.interval)}
              currency={textParam(query.currency)}
            />
          )}
          {(shown || !isAwaited) && (
            <div id="history" className="scroll-mt-4">
              <History
                of={shown}
                page={history}
                all={all}
                cursor={historyCursor}
                query={{ ...selection, ...(paymentsCursor && { payments: paymentsCursor }) }}
              />
            </div>
          )}
          <div id="payments" className="scroll-mt-4">
            <Payments
              page={payments}
              cursor={paymentsCursor}
              query={{ ...selection, ...(historyCursor && { cursor: historyCursor }) }}
            />
          </div>
        </div>
      </ChangeForms>
    </>
  );
});
