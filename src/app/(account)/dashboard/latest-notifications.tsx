import { getTranslations } from "next-intl/server";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { NotificationRow } from "../notifications/notification-row.tsx";
import type { Notification } from "../notifications/sentence.ts";

export async function LatestNotifications({ notifications }: { notifications: readonly Notification[] }) {
  const words = await getTranslations("dashboard");
  return (
    <Card
      title={words("notifications")}
      action={<LinkButton href="/notifications">{words("notificationsWay")}</LinkButton>}
    >
      {notifications.length === 0 ? (
        <p className="text-muted">{words("notificationsNone")}</p>
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
