import { getTranslations } from "next-intl/server";
import { listNotifications } from "../../../operations/notifications/list-notifications.ts";
import { unreadCount } from "../../../operations/notifications/unread-count.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { read } from "../../gate/read.ts";
import { textParam } from "../../gate/text-param.ts";
import { withRefusalPage } from "../../gate/with-refusal-page.tsx";
import { titled } from "../../titled.ts";
import { markAllRead } from "./actions.ts";
import { NotificationRow } from "./notification-row.tsx";

export const generateMetadata = titled("notifications.title");

export default withRefusalPage(async function NotificationsPage({
  searchParams,
}: PageProps<"/notifications">) {
  const query = await searchParams;
  const cursor = textParam(query.cursor);
  const [t, page, unread] = await Promise.all([
    getTranslations("notifications"),
    read(listNotifications, { cursor }),
    read(unreadCount, {}),
  ]);
  return (
    <>
      <PageHeader
        title={t("title")}
        description={unread.count > 0 && t("count", { count: unread.count })}
        action={
          <ActionForm action={formAction(markAllRead)} successText={t("markedAll")}>
            {unread.count > 0 && <SubmitButton>{t("markAll")}</SubmitButton>}
          </ActionForm>
        }
      />
      {page.items.length === 0 ? (
        <EmptyState
          title={t("empty")}
          description={t("emptyAbout")}
          action={<LinkButton href="/billing">{t("emptyWay")}</LinkButton>}
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
});
