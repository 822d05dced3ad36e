import { getTranslations } from "next-intl/server";
import { OUTBOUND_EVENT_TYPES } from "../../../../domain/outbound/outbound-event.ts";
import { CheckboxGroup } from "../../../../ui/checkbox-group.tsx";
import { Field } from "../../../../ui/field.tsx";

/** The fields of an endpoint, for a new one or one that exists. */
export async function EndpointFields({
  endpoint,
}: {
  endpoint?: { url: string; types: readonly string[]; description: string | null };
}) {
  const t = await getTranslations("adminEventEndpoints");
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={t("fields.url")}
          help={t("fields.urlHelp")}
          name="url"
          type="url"
          required
          maxLength={2048}
          defaultValue={endpoint?.url}
          autoComplete="off"
          spellCheck={false}
        />
        <Field
          label={t("fields.description")}
          help={t("fields.descriptionHelp")}
          name="description"
          maxLength={200}
          defaultValue={endpoint?.description ?? undefined}
          autoComplete="off"
        />
      </div>
      <CheckboxGroup
        label={t("fields.types")}
        name="types"
        options={OUTBOUND_EVENT_TYPES.map((type) => ({
          value: type,
          label: type,
          isChecked: endpoint?.types.includes(type) ?? false,
        }))}
      />
    </>
  );
}
