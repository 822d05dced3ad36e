import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { listSessions } from "../../../../operations/sessions/list-sessions.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Card } from "../../../../ui/card.tsx";
import { RevokeAtOnceForm, RevokeForms } from "../../../../ui/revoke-forms.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { read } from "../../../gate/read.ts";
import { revokeOtherSessions, revokeSession } from "./actions.ts";
import { deviceName } from "./device-name.ts";

type Session = z.input<typeof listSessions.output>["items"][number];

/** Where the user is signed in, this session first. */
export async function SessionsCard() {
  const [t, done, { items }] = await Promise.all([
    getTranslations("security.sessions"),
    getTranslations("security.done"),
    read(listSessions, {}),
  ]);
  const sorted = items.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
  return (
    <Card
      title={t("title")}
      description={t("about")}
      {...(sorted.length > 1 && {
        action: (
          <ActionForm action={formAction(revokeOtherSessions)}>
            <SubmitButton variant="secondary">{t("revokeOthers")}</SubmitButton>
          </ActionForm>
        ),
      })}
    >
      <RevokeForms action={formAction(revokeSession)} successText={done("sessionRevoked")}>
        <ul className="-my-3">
          {sorted.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      </RevokeForms>
    </Card>
  );
}

async function SessionRow({ session }: { session: Session }) {
  const t = await getTranslations("security.sessions");
  const device = deviceName(session.userAgent);
  const name = device === null ? t("unknownDevice") : t("device", device);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-b py-3 last:border-b-0">
      <div className="min-w-0">
        <p className="font-medium">
          {name}
          {session.isCurrent && <span className="font-normal text-muted"> ({t("current")})</span>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-muted text-sm">
          {session.address && <span>{session.address}</span>}
          <span>{t.rich("signedIn", { time: () => <Time key="time" at={session.createdAt} /> })}</span>
        </p>
      </div>
      {!session.isCurrent && (
        <RevokeAtOnceForm>
          <input type="hidden" name="id" value={session.id} />
          <SubmitButton variant="ghost" aria-label={t("revokeWhich", { device: name })}>
            {t("revoke")}
          </SubmitButton>
        </RevokeAtOnceForm>
      )}
    </li>
  );
}
