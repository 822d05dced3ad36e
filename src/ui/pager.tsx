import { getTranslations } from "next-intl/server";
import { LinkButton } from "./button.tsx";

/** Pagination links. The URL's cursor selects the page; without one it is the first. */
export async function Pager({
  path,
  query = {},
  parameter = "cursor",
  place,
  cursor,
  nextCursor,
}: {
  path: string;
  /** Other query parameters, such as filters. */
  query?: Record<string, string>;
  /** The query parameter of the list's cursor, where a page has several lists. */
  parameter?: string;
  /** The id of the list's element, if the list is not at the top of the page. */
  place?: string;
  cursor: string | null;
  /** `null` at the end. */
  nextCursor: string | null;
}) {
  if (cursor === null && nextCursor === null) return null;
  const t = await getTranslations("common");
  const end = place === undefined ? "" : `#${place}`;
  return (
    <nav aria-label={t("pages")} className="mt-4 flex flex-wrap gap-2">
      {cursor !== null && <LinkButton href={`${addressOf(path, query)}${end}`}>{t("previous")}</LinkButton>}
      {nextCursor !== null && (
        <LinkButton href={`${addressOf(path, { ...query, [parameter]: nextCursor })}${end}`}>
          {t("next")}
        </LinkButton>
      )}
    </nav>
  );
}

function addressOf(path: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}
