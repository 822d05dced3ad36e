import { getTranslations } from "next-intl/server";
import { z } from "zod";
import { Card } from "../../../../../ui/card.tsx";
import { Field } from "../../../../../ui/field.tsx";
import { Filters } from "../../../../../ui/filters.tsx";
import { Payload } from "../../../../../ui/payload.tsx";
import { outline } from "../../../../../ui/payload-outline.ts";
import { MASK, maskPayload } from "./mask-payload.ts";

/** More than providers send per subscription; a page of a megabyte is unusable. */
const MAX_ENTRIES = 2_000;

/** Text to search a payload for. */
export const SearchText = z.string().trim().min(1).max(100);

/** The delivered payload without personal data, which does not leave the server. */
export async function PayloadCard({
  id,
  payload,
  find,
}: {
  id: string;
  payload: unknown;
  find: string | null;
}) {
  const t = await getTranslations("adminWebhooks");
  if (payload === null || payload === undefined) {
    return <Card title={t("payload.title")} description={t("payload.gone")} />;
  }
  const outlined = outline(maskPayload(payload), { find, mask: MASK, maxNodes: MAX_ENTRIES });
  return (
    <Card title={t("payload.title")} description={t("payload.about")}>
      <Filters
        path={`/admin/webhooks/${id}`}
        values={{ find: find ?? "" }}
        submit={t("payload.submit")}
        wait={t("filters.wait")}
        className="mb-3"
      >
        <Field
          type="search"
          label={t("payload.find")}
          name="find"
          defaultValue={find ?? ""}
          help={find === null ? t("payload.findHelp") : t("payload.hits", { count: outlined.hits })}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          className="w-full max-w-md"
        />
      </Filters>
      <Payload
        // A new search resets what was folded by hand.
        key={find}
        outline={outlined}
        labels={{ masked: t("payload.masked"), size: (count) => t("payload.size", { count }) }}
      />
      {outlined.isCut && (
        <p className="mt-2 text-muted text-sm">{t("payload.cut", { count: MAX_ENTRIES })}</p>
      )}
    </Card>
  );
}
