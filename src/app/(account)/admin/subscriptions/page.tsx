import type { Metadata } from "next";
import Link from "next/link";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { listOutOfOrder } from "../../../../operations/subscriptions/list-out-of-order.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { PickButton } from "../../../../ui/pick-button.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { Telling } from "../../../../ui/told.tsx";
import { administrator, read } from "../../../gate/read.ts";
import { type Given, given } from "../given.ts";
import { planName, SubscriptionState } from "../subscription-state.tsx";
import { compareWithProvider } from "./forms.ts";

const PATH = "/admin/subscriptions";
const PAGE_SIZE = 25;

/** What came of a comparison stays in sight, however far down its row is. */
const OUTCOME_ABOVE = [
  "[&>:is([role=alert],:has([data-told]))]:sticky [&>:is([role=alert],:has([data-told]))]:top-2",
  "[&>:is([role=alert],:has([data-told]))]:z-20 [&>:is([role=alert],:has([data-told]))]:order-first",
  "[&>:is([role=alert],:has([data-told]))]:mb-4 [&>:is([role=alert],:has([data-told]))]:rounded-box",
  "[&>:is([role=alert],:has([data-told]))]:border [&>:is([role=alert],:has([data-told]))]:border-line",
  "[&>:is([role=alert],:has([data-told]))]:bg-surface [&>:is([role=alert],:has([data-told]))]:p-3",
].join(" ");

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("adminSubscriptions");
  return { title: words("title") };
}

export default async function SubscriptionsPage({ searchParams }: { searchParams: Given }) {
  await administrator();
  const [words, common, params] = await Promise.all([
    getTranslations("adminSubscriptions"),
    getTranslations("common"),
    searchParams,
  ]);
  const cursor = given(listOutOfOrder.input.shape.cursor, params.cursor);
  const { items, nextCursor } = await read(listOutOfOrder, { cursor, limit: PAGE_SIZE });
  return (
    <>
      <PageHeader title={words("title")} about={words("about")} />
      {/* One form for all: what came of a comparison stays when its row has gone. */}
      <ActionForm
        action={compareWithProvider}
        waitWords={common.raw("wait")}
        className={`flex flex-col ${OUTCOME_ABOVE}`}
      >
        <Telling />
        {items.length === 0 ? (
          <Empty title={words("none.title")} about={words("none.about")} />
        ) : (
          <Subscriptions subscriptions={items} />
        )}
      </ActionForm>
      <Pager path={PATH} cursor={cursor} nextCursor={nextCursor} />
    </>
  );
}

type Subscription = z.output<typeof listOutOfOrder.output>["items"][number];

async function Subscriptions({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const words = await getTranslations("adminSubscriptions");
  return (
    <Table
      label={words("title")}
      columns={[
        { label: words("columns.subscription") },
        { label: words("columns.person"), from: "md" },
        { label: words("columns.plan"), from: "sm" },
        { label: words("columns.changed"), align: "end", from: "md" },
        { label: words("columns.compare"), align: "end" },
      ]}
    >
      {subscriptions.map((one) => (
        <Row key={one.id}>
          <MainCell
            href={`/admin/webhooks?subscriptionId=${one.id}`}
            about={
              <>
                {one.provider}
                {one.user && <span className="md:hidden"> · {one.user.name}</span>}
              </>
            }
          >
            <span className="sr-only">{words("deliveriesOf")} </span>
            {one.providerSubscriptionId ?? one.id}
          </MainCell>
          <Cell from="md" className="max-w-52">
            <Person one={one} />
          </Cell>
          <Cell from="sm">
            <span className="block whitespace-nowrap">{planName(one.planId)}</span>
            <span className="text-sm">
              <SubscriptionState status={one.status} />
            </span>
          </Cell>
          <Cell from="md" align="end">
            <span className="relative">
              <Time at={one.updatedAt} />
            </span>
          </Cell>
          <Cell align="end">
            <PickButton
              id={one.id}
              label={words("compareWhich", { subscription: one.providerSubscriptionId ?? one.id })}
            >
              <span className="sm:hidden">{words("compareShort")}</span>
              <span className="hidden sm:inline">{words("compare")}</span>
            </PickButton>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

async function Person({ one: { userId, user } }: { one: Subscription }) {
  const words = await getTranslations("adminSubscriptions");
  if (userId === null || user === null) return <span className="text-muted">{words("gone")}</span>;
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
