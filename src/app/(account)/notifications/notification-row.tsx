import Link from "next/link";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { formAction } from "../../gate/form-action.ts";
import { markRead } from "./actions.ts";
import { describeNotification, type Notification } from "./describe-notification.ts";

export async function NotificationRow({
  notification,
  canBeMarked = false,
}: {
  notification: Notification;
  canBeMarked?: boolean;
}) {
  const [t, { sentence, href }] = await Promise.all([
    getTranslations("notifications"),
    describeNotification(notification),
  ]);
  const isUnread = notification.readAt === null;
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 border-line border-b py-3 last:border-b-0">
      <div className="min-w-0 grow basis-72">
        <Link
          href={href}
          prefetch={false}
          className={isUnread ? "wrap-anywhere font-medium hover:underline" : "wrap-anywhere hover:underline"}
        >
          {sentence}
        </Link>
        <p className="flex flex-wrap items-center gap-x-3 text-muted text-sm">
          {isUnread && (
            <span className="inline-flex items-center gap-1.5 text-ink">
              <span aria-hidden="true" className="size-2 rounded-full bg-accent" />
              {t("unread")}
            </span>
          )}
          <Time at={notification.createdAt} />
        </p>
      </div>
      {canBeMarked && (
        <ActionForm
          action={formAction(markRead)}
          successText={t("marked")}
          className="flex flex-col items-start"
        >
          {isUnread && (
            <>
              <input type="hidden" name="id" value={notification.id} />
              <SubmitButton variant="ghost" className="-ml-3 sm:ml-0" aria-label={t("markOne", { sentence })}>
                {t("mark")}
              </SubmitButton>
            </>
          )}
        </ActionForm>
      )}
    </li>
  );
}
