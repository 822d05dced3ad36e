import Link from "next/link";
import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { Messages } from "../../../../messages/messages.ts";
import type { listAuditEntries } from "../../../../operations/audit/list-audit-entries.ts";
import { DottedName } from "../../../../ui/dotted-name.tsx";
import { Cell, Row, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { describeDetails } from "./describe-details.ts";

export type AuditEntry = z.output<typeof listAuditEntries.output>["items"][number];

/** Ids, which have their whole text as a title, give way to the actions. */
const ID_CELL_CLASSES = "max-w-36 xl:max-w-52";

export async function AuditTable({ path, entries }: { path: string; entries: readonly AuditEntry[] }) {
  const t = await getTranslations("adminAudit");
  return (
    <Table
      label={t("title")}
      columns={[
        { label: t("columns.action") },
        { label: t("columns.actor"), from: "sm" },
        { label: t("columns.target"), from: "md" },
        { label: t("columns.at"), align: "end" },
      ]}
    >
      {entries.map((entry) => (
        <Row key={entry.id}>
          <th scope="row" className="w-full max-w-0 text-left font-normal">
            <span className="block break-words font-medium">
              <DottedName name={entry.action} />
            </span>
            {/* Replace their columns on narrow screens. */}
            <span className="block text-sm sm:hidden">
              <Actor path={path} entry={entry} />
            </span>
            <span className="block text-sm md:hidden">
              <Target path={path} entry={entry} />
            </span>
            <Details details={entry.details} />
          </th>
          <Cell from="sm" className={ID_CELL_CLASSES}>
            <Actor path={path} entry={entry} />
          </Cell>
          <Cell from="md" className={ID_CELL_CLASSES}>
            <Target path={path} entry={entry} />
          </Cell>
          <Cell align="end" className="whitespace-nowrap">
            <Time at={entry.at} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

type EntryProps = { path: string; entry: AuditEntry };

async function Actor({ path, entry: { actor, address } }: EntryProps) {
  const t = await getTranslations("adminAudit");
  const id = actor.userId ?? actor.keyId;
  return (
    <>
      <span className="block">{t(`actors.${actor.kind}`)}</span>
      {id !== null && <FilterLink path={path} name="actor" id={id} label={t("actionsOf")} />}
      {address !== null && <span className="block text-muted text-sm">{address}</span>}
    </>
  );
}

type TargetType = keyof Messages["adminAudit"]["targets"];

async function Target({ path, entry: { target } }: EntryProps) {
  const t = await getTranslations("adminAudit");
  const type = `targets.${target.type as TargetType}` as const;
  return (
    <>
      {/* Stored by a later release that was rolled back: shown unchanged. */}
      <span className="block">{t.has(type) ? t(type) : target.type}</span>
      <FilterLink path={path} name="target" id={target.id} label={t("changesOf")} />
    </>
  );
}

function FilterLink({
  path,
  name,
  id,
  label,
}: {
  path: string;
  name: "actor" | "target";
  id: string;
  /** For screen readers, before the id. */
  label: string;
}) {
  return (
    <Link
      href={`${path}?${new URLSearchParams({ [name]: id })}`}
      prefetch={false}
      title={id}
      className="block truncate py-0.5 text-muted text-sm underline decoration-line-strong underline-offset-2"
    >
      <span className="sr-only">{label} </span>
      {id}
    </Link>
  );
}

async function Details({ details }: Pick<AuditEntry, "details">) {
  const [t, format] = await Promise.all([getTranslations(), getFormatter()]);
  const described = describeDetails(details, { t, format });
  if (described.length === 0) return null;
  return (
    <dl className="mt-1 text-sm">
      {described.map(({ name, label, value }) => (
        <div key={name} className="break-words">
          <dt className="inline text-muted">{label}</dt> <dd className="inline">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
