import { getTranslations } from "next-intl/server";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import type { Notification } from "../notifications/describe-notification.ts";
import { NotificationRow } from "../notifications/notification-row.tsx";

export async function LatestNotifications({ notifications }: { notifications: readonly Notification[] }) {
  const t = await getTranslations("dashboard");
  return (
    <Card
      title={t("notifications")}
      action={<LinkButton href="/notifications">{t("notificationsWay")}</LinkButton>}
    >
      {notifications.length === 0 ? (
        <p className="text-muted">{t("notificationsNone")}</p>
      ) : (
        <ul className="-my-3">
          {notifications.map((notification) => (
            <NotificationRow key={notification.id} notification={notification} />
          ))}
        </ul>
      )}
    </Card>
  );
}
