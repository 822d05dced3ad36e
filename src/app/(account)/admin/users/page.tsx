import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import { searchUsers } from "../../../../operations/users/search-users.ts";
import { LinkButton } from "../../../../ui/button.tsx";
import { EmptyState } from "../../../../ui/empty-state.tsx";
import { Field } from "../../../../ui/field.tsx";
import { Filters } from "../../../../ui/filters.tsx";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Cell, MainCell, Row, Table } from "../../../../ui/table.tsx";
import { Day } from "../../../../ui/time.tsx";
import { read, requireAdmin } from "../../../gate/read.ts";
import { requireUser } from "../../../gate/request.ts";
import { withRefusalPage } from "../../../gate/with-refusal-page.tsx";
import { titled } from "../../../titled.ts";
import { planName } from "../../billing/plans.ts";
import { parseParam, type SearchParams, searchText } from "../parse-param.ts";
import { SubscriptionStatusLabel } from "../subscription-status-label.tsx";

const PATH = "/admin/users";
const PAGE_SIZE = 25;

export const generateMetadata = titled("adminUsers.title");

export default withRefusalPage(async function UsersPage({ searchParams }: { searchParams: SearchParams }) {
  await requireAdmin();
  const [t, params] = await Promise.all([getTranslations("adminUsers"), searchParams]);
  const { shape } = searchUsers.input;
  const search = searchText(params.search);
  const cursor = parseParam(shape.cursor, params.cursor);
  // Text by which nobody can be found, such as a very long one, finds nobody.
  const page = shape.search.safeParse(search).success
    ? await read(searchUsers, { search, cursor, limit: PAGE_SIZE })
    : { items: [], nextCursor: null };
  const shown = shownText(search ?? "");
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      {params.done === "deleted" && <Notice>{t("deleted")}</Notice>}
      <Filters
        path={PATH}
        values={{ search: shown }}
        submit={t("search.submit")}
        wait={t("search.wait")}
        className="mb-4"
      >
        <Field
          type="search"
          label={t("search.label")}
          help={t("search.help")}
          name="search"
          defaultValue={shown}
          maxLength={MAX_SHOWN}
          autoComplete="off"
          spellCheck={false}
          className="w-full max-w-md"
        />
      </Filters>
      {page.items.length === 0 ? (
        <EmptyState
          title={t("none.title")}
          description={t("none.about", { search: shown })}
          action={<LinkButton href={PATH}>{t("none.clear")}</LinkButton>}
        />
      ) : (
        <UserTable people={page.items} />
      )}
      <Pager
        path={PATH}
        query={search ? { search: shown } : {}}
        cursor={cursor}
        nextCursor={page.nextCursor}
      />
    </>
  );
});

/** What the search field holds at most. */
const MAX_SHOWN = 255;

function shownText(search: string): string {
  const shown = search.replace(/\p{Cc}/gu, "\u{fffd}");
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : shown;
}

type ListedUser = z.output<typeof searchUsers.output>["items"][number];

async function UserTable({ people }: { people: readonly ListedUser[] }) {
  const [t, format, { userId }] = await Promise.all([
    getTranslations("adminUsers"),
    getFormatter(),
    requireUser(),
  ]);
  return (
    <Table
      label={t("title")}
      columns={[
        { label: t("columns.person") },
        { label: t("columns.role"), from: "sm" },
        { label: t("columns.subscription") },
        { label: t("columns.lastSeen"), align: "end", from: "sm" },
        { label: t("columns.since"), align: "end", from: "md" },
      ]}
    >
      {people.map((person) => (
        <Row key={person.id}>
          <MainCell href={`${PATH}/${encodeURIComponent(person.id)}`} description={person.email}>
            {person.name}
            {person.id === userId && <span className="font-normal text-muted"> ({t("you")})</span>}
          </MainCell>
          <Cell from="sm" className="whitespace-nowrap">
            {t(`roles.${person.role}`)}
          </Cell>
          <Cell className="max-w-40">
            {person.subscription ? (
              <>
                <span className="block truncate">{planName(person.subscription.planId)}</span>
                <span className="text-sm">
                  <SubscriptionStatusLabel status={person.subscription.status} />
                </span>
              </>
            ) : (
              <span className="text-muted">{t("noSubscription")}</span>
            )}
          </Cell>
          <Cell align="end" from="sm" className="whitespace-nowrap">
            {person.lastSeenAt ? (
              <span className="relative">
                <Day at={person.lastSeenAt} />
              </span>
            ) : (
              <span className="text-muted">{t("never")}</span>
            )}
          </Cell>
          <Cell align="end" from="md" className="whitespace-nowrap">
            {format.dateTime(person.createdAt, { dateStyle: "medium" })}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
