import type { Metadata } from "next";
import { getFormatter, getTranslations } from "next-intl/server";
import { z } from "zod";
import { searchUsers } from "../../../../operations/users/search-users.ts";
import { LinkButton } from "../../../../ui/button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Field } from "../../../../ui/field.tsx";
import { Filters } from "../../../../ui/filters.tsx";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { administrator, read } from "../../../gate/read.ts";
import { person } from "../../../gate/request.ts";
import { type Given, given } from "../given.ts";
import { planName, SubscriptionState } from "../subscription-state.tsx";

const PATH = "/admin/users";
const PAGE_SIZE = 25;

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("adminUsers");
  return { title: words("title") };
}

export default async function UsersPage({ searchParams }: { searchParams: Given }) {
  await administrator();
  const [words, params] = await Promise.all([getTranslations("adminUsers"), searchParams]);
  const search = given(searchUsers.input.shape.search, params.search);
  const cursor = given(searchUsers.input.shape.cursor, params.cursor);
  const page = await read(searchUsers, { search, cursor, limit: PAGE_SIZE });
  return (
    <>
      <PageHeader title={words("title")} about={words("about")} />
      {given(z.literal("deleted"), params.done) && <Notice>{words("deleted")}</Notice>}
      <Filters
        path={PATH}
        values={{ search: search ?? "" }}
        submit={words("search.submit")}
        wait={words("search.wait")}
        className="mb-4"
      >
        <Field
          type="search"
          label={words("search.label")}
          help={words("search.help")}
          name="search"
          defaultValue={search ?? ""}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          className="w-full max-w-md"
        />
      </Filters>
      {page.items.length === 0 ? (
        <Empty
          title={words("none.title")}
          about={words("none.about", { search: search ?? "" })}
          action={<LinkButton href={PATH}>{words("none.clear")}</LinkButton>}
        />
      ) : (
        <People people={page.items} />
      )}
      <Pager path={PATH} query={search ? { search } : {}} cursor={cursor} nextCursor={page.nextCursor} />
    </>
  );
}

type Person = z.output<typeof searchUsers.output>["items"][number];

async function People({ people }: { people: readonly Person[] }) {
  const [words, format, { userId }] = await Promise.all([
    getTranslations("adminUsers"),
    getFormatter(),
    person(),
  ]);
  return (
    <Table
      label={words("title")}
      columns={[
        { label: words("columns.person") },
        { label: words("columns.role"), from: "sm" },
        { label: words("columns.subscription") },
        { label: words("columns.lastSeen"), align: "end", from: "sm" },
        { label: words("columns.since"), align: "end", from: "md" },
      ]}
    >
      {people.map((one) => (
        <Row key={one.id}>
          <MainCell href={`${PATH}/${encodeURIComponent(one.id)}`} about={one.email}>
            {one.name}
            {one.id === userId && <span className="font-normal text-muted"> ({words("you")})</span>}
          </MainCell>
          <Cell from="sm" className="whitespace-nowrap">
            {words(`roles.${one.role}`)}
          </Cell>
          <Cell>
            {one.subscription ? (
              <>
                <span className="block">{planName(one.subscription.planId)}</span>
                <span className="text-sm">
                  <SubscriptionState status={one.subscription.status} />
                </span>
              </>
            ) : (
              <span className="text-muted">{words("noSubscription")}</span>
            )}
          </Cell>
          <Cell align="end" from="sm" className="whitespace-nowrap">
            {one.lastSeenAt ? (
              <span className="relative">
                <Time at={one.lastSeenAt} />
              </span>
            ) : (
              <span className="text-muted">{words("never")}</span>
            )}
          </Cell>
          <Cell align="end" from="md" className="whitespace-nowrap">
            {format.dateTime(one.createdAt, { dateStyle: "medium" })}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
