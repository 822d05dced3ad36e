import Link from "next/link";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { listOutOfOrder } from "../../../../operations/subscriptions/list-out-of-order.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { RowSubmitButton } from "../../../../ui/row-submit-button.tsx";
import { StatusMessage } from "../../../../ui/status-message.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { read, requireAdmin } from "../../../gate/read.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { planName } from "../../billing/plans.ts";
import { parseParam, type SearchParams } from "../parse-param.ts";
import { SubscriptionStatusLabel } from "../subscription-status-label.tsx";
import { reconcileSubscription } from "./actions.ts";

const PATH = "/admin/subscriptions";
const PAGE_SIZE = 25;

/** The result of a comparison stays visible however far down its row is. */
const OUTCOME_ABOVE = [
  "[&>:is([role=alert],:has([data-status-message]))]:sticky [&>:is([role=alert],:has([data-status-message]))]:top-2",
  "[&>:is([role=alert],:has([data-status-message]))]:z-20 [&>:is([role=alert],:has([data-status-message]))]:order-first",
  "[&>:is([role=alert],:has([data-status-message]))]:mb-4 [&>:is([role=alert],:has([data-status-message]))]:rounded-box",
  "[&>:is([role=alert],:has([data-status-message]))]:border [&>:is([role=alert],:has([data-status-message]))]:border-line",
  "[&>:is([role=alert],:has([data-status-message]))]:bg-surface [&>:is([role=alert],:has([data-status-message]))]:p-3",
].join(" ");

export const generateMetadata = titled("adminSubscriptions.title");

export default withRefusalPage(async function SubscriptionsPage({
  searchParams,
}: {
  searchParams: SearchParams;
}) {
  await requireAdmin();
  const [t, params] = await Promise.all([getTranslations("adminSubscriptions"), searchParams]);
  const cursor = parseParam(listOutOfOrder.input.shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listOutOfOrder, { cursor, limit: PAGE_SIZE });
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      {params.done === "dismissed" && <Notice>{t("dismiss.done")}</Notice>}
      {/* One form for all rows: the result of a comparison remains after its row has gone. */}
      <ActionForm action={formAction(reconcileSubscription)} className={`flex flex-col ${OUTCOME_ABOVE}`}>
        <StatusMessage />
        {items.length === 0 ? (
          <EmptyState title={t("none.title")} description={t("none.about")} />
        ) : (
          <SubscriptionTable subscriptions={items} />
        )}
      </ActionForm>
      <Pager path={PATH} cursor={cursor} nextCursor={nextCursor} />
    </>
  );
});

type Subscription = z.output<typeof listOutOfOrder.output>["items"][number];

async function SubscriptionTable({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const t = await getTranslations("adminSubscriptions");
  return (
    <Table
      label={t("title")}
      columns={[
        { label: t("columns.subscription") },
        { label: t("columns.person"), from: "md" },
        { label: t("columns.plan"), from: "sm" },
        { label: t("columns.changed"), align: "end", from: "md" },
        { label: t("columns.compare"), align: "end" },
      ]}
    >
      {subscriptions.map((subscription) => (
        <Row key={subscription.id}>
          <MainCell
            href={`/admin/webhooks?subscriptionId=${subscription.id}`}
            description={
              <>
                {subscription.provider}
                {subscription.user && <span className="md:hidden"> · {subscription.user.name}</span>}
              </>
            }
          >
            <span className="sr-only">{t("deliveriesOf")} </span>
            {subscription.providerSubscriptionId ?? subscription.id}
          </MainCell>
          <Cell from="md" className="max-w-52">
            <UserCell subscription={subscription} />
          </Cell>
          <Cell from="sm" className="max-w-32">
            <span className="block truncate">{planName(subscription.planId)}</span>
            <span className="text-sm">
              <SubscriptionStatusLabel status={subscription.status} />
            </span>
          </Cell>
          <Cell from="md" align="end">
            <span className="relative">
              <Time at={subscription.updatedAt} />
            </span>
          </Cell>
          <Cell align="end">
            <span className="flex flex-col items-end gap-1 xl:flex-row xl:items-center xl:justify-end xl:gap-4">
              <RowSubmitButton
                id={subscription.id}
                label={t("compareWhich", {
                  subscription: subscription.providerSubscriptionId ?? subscription.id,
                })}
              >
                <span className="xl:hidden">{t("compareShort")}</span>
                <span className="hidden xl:inline">{t("compare")}</span>
              </RowSubmitButton>
              <Link
                href={`${PATH}/${subscription.id}`}
                prefetch={false}
                aria-label={`${t("dismissShort")}: ${subscription.providerSubscriptionId ?? subscription.id}`}
                className="relative py-1 text-sm underline decoration-line-strong underline-offset-2"
              >
                {t("dismissShort")}
              </Link>
            </span>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

async function UserCell({ subscription: { userId, user } }: { subscription: Subscription }) {
  const t = await getTranslations("adminSubscriptions");
  if (userId === null || user === null) return <span className="text-muted">{t("gone")}</span>;
  return (
    <>
      <Link
        href={`/admin/users/${encodeURIComponent(userId)}`}
        prefetch={false}
        className="relative block truncate underline decoration-line-strong underline-offset-2"
      >
        {user.name}
      </Link>
      <span className="block truncate text-muted text-sm">{user.email}</span>
    </>
  );
}
