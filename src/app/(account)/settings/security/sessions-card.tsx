import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Card } from "../../../../ui/card.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { requireUser } from "../../../gate/request.ts";
import { revokeOtherSessions, revokeSession } from "./actions.ts";
import { deviceName } from "./device-name.ts";
import { listSessions, type Session } from "./sessions.ts";

/** Where the user is signed in, this session first. */
export async function SessionsCard() {
  const [t, user, sessions] = await Promise.all([
    getTranslations("security.sessions"),
    requireUser(),
    listSessions(),
  ]);
  const currentId = user.kind === "session" ? user.sessionId : null;
  const sorted = sessions.toSorted(
    (a, b) =>
      Number(b.id === currentId) - Number(a.id === currentId) ||
      Date.parse(b.updatedAt) - Date.parse(a.updatedAt),
  );
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
      <ul className="-my-3">
        {sorted.map((session) => (
          <SessionRow key={session.id} session={session} isCurrent={session.id === currentId} />
        ))}
      </ul>
    </Card>
  );
}

async function SessionRow({ session, isCurrent }: { session: Session; isCurrent: boolean }) {
  const t = await getTranslations("security.sessions");
  const device = deviceName(session.userAgent);
  const name = device === null ? t("unknownDevice") : t("device", device);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-b py-3 last:border-b-0">
      <div className="min-w-0">
        <p className="font-medium">
          {name}
          {isCurrent && <span className="font-normal text-muted"> ({t("current")})</span>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-muted text-sm">
          {session.ipAddress && <span>{session.ipAddress}</span>}
          <span>
            {t.rich("signedIn", { time: () => <Time key="time" at={new Date(session.createdAt)} /> })}
          </span>
        </p>
      </div>
      {!isCurrent && (
        <ActionForm action={formAction(revokeSession)}>
          <input type="hidden" name="id" value={session.id} />
          <SubmitButton variant="ghost" aria-label={t("revokeWhich", { device: name })}>
            {t("revoke")}
          </SubmitButton>
        </ActionForm>
      )}
    </li>
  );
}
