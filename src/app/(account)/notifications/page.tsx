import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { listNotifications } from "../../../operations/notifications/list-notifications.ts";
import { unreadCount } from "../../../operations/notifications/unread-count.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { read } from "../../gate/read.ts";
import { readAll } from "./forms.ts";
import { NotificationRow } from "./notification-row.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("notifications");
  return { title: words("title") };
}

export default async function NotificationsPage({ searchParams }: PageProps<"/notifications">) {
  const query = await searchParams;
  const cursor = typeof query.cursor === "string" ? query.cursor : null;
  const [words, page, unread] = await Promise.all([
    getTranslations("notifications"),
    read(listNotifications, { cursor }),
    read(unreadCount, {}),
  ]);
  return (
    <>
      <PageHeader
        title={words("title")}
        about={words("count", { count: unread.count })}
        action={unread.count > 0 && <MarkAll />}
      />
      {page.items.length === 0 ? (
        <Empty
          title={words("empty")}
          about={words("emptyAbout")}
          action={<LinkButton href="/billing">{words("emptyWay")}</LinkButton>}
        />
      ) : (
        <Card>
          <ul className="-my-3">
            {page.items.map((notification) => (
              <NotificationRow key={notification.id} notification={notification} canBeMarked />
            ))}
          </ul>
        </Card>
      )}
      <Pager path="/notifications" cursor={cursor} nextCursor={page.nextCursor} />
    </>
  );
}

async function MarkAll() {
  const [words, common] = await Promise.all([getTranslations("notifications"), getTranslations("common")]);
  return (
    <ActionForm action={readAll} waitWords={common.raw("wait")}>
      <SubmitButton>{words("markAll")}</SubmitButton>
    </ActionForm>
  );
}
