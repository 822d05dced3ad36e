import { getTranslations } from "next-intl/server";
import { showCalendarLink } from "../../../operations/calendar/show-calendar-link.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { InlineFact, InlineFacts } from "../../../ui/inline-facts.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { formAction } from "../../gate/form-action.ts";
import { read } from "../../gate/read.ts";
import { CreatedSecret } from "../created-secret.tsx";
import { createCalendarLink, revokeCalendarLink } from "./actions.ts";

/** The secret address of the calendar: created, replaced and revoked here, shown only when it is created. */
export async function CalendarCard() {
  const [t, keys, { link }] = await Promise.all([
    getTranslations("settings.calendar"),
    getTranslations("apiKeys"),
    read(showCalendarLink, {}),
  ]);
  return (
    <Card title={t("title")} description={t("about")}>
      <div className="flex flex-col gap-4">
        {link && (
          <InlineFacts>
            <InlineFact label={keys("created")}>
              <Time at={link.createdAt} />
            </InlineFact>
            <InlineFact label={keys("lastUsed")}>
              {link.lastUsedAt ? <Time at={link.lastUsedAt} /> : keys("never")}
            </InlineFact>
          </InlineFacts>
        )}
        <ActionForm action={formAction(createCalendarLink)} className="flex flex-col items-start gap-4">
          {link && <p className="text-muted text-sm">{t("replaceAbout")}</p>}
          <SubmitButton variant={link ? "secondary" : "primary"}>
            {t(link ? "replace" : "create")}
          </SubmitButton>
          <CreatedSecret
            title={t("shownOnce")}
            about={t("shownOnceAbout")}
            texts={[{ label: t("address"), template: "{url}" }]}
          />
        </ActionForm>
        <ActionForm action={formAction(revokeCalendarLink)} successText={t("revoked")}>
          {link && <SubmitButton variant="danger">{t("revoke")}</SubmitButton>}
        </ActionForm>
      </div>
    </Card>
  );
}
