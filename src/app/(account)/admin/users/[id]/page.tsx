import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { getFormatter, getTranslations } from "next-intl/server";
import type { z } from "zod";
import { ROLES } from "../../../../../domain/callers/caller.ts";
import { listPaymentsOfUser } from "../../../../../operations/payments/list-payments-of-user.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { DescriptionItem, DescriptionList } from "../../../../../ui/description-list.tsx";
import { Field, Select } from "../../../../../ui/field.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { Pager } from "../../../../../ui/pager.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { Day } from "../../../../../ui/time.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { read, requireAdmin } from "../../../../gate/read.ts";
import { requireUser } from "../../../../gate/request.ts";
import { textParam } from "../../../../gate/text-param.ts";
import { pageTitle, withRefusalPage } from "../../../../gate/with-refusal-page.tsx";
import { PaymentList } from "../../../billing/payment-list.tsx";
import { planName } from "../../../billing/plans.ts";
import { SubscriptionStatusLabel } from "../../subscription-status-label.tsx";
import { changeUserRole, deleteUser } from "../actions.ts";
import { findUser } from "../find-user.ts";

type Params = PageProps<"/admin/users/[id]">;

export async function generateMetadata({ params }: Params): Promise<Metadata> {
  const t = await getTranslations("adminUsers");
  return pageTitle(loadUser((await params).id), t("title"));
}

/** @param segment of the path, which Next.js passes as it was sent: ids of other systems have characters like `|` */
async function loadUser(segment: string): Promise<ShownUser> {
  await requireAdmin();
  return (await findUser(decodeURIComponent(segment))) ?? notFound();
}

export default withRefusalPage(async function UserPage({ params, searchParams }: Params) {
  const [{ id }, query] = await Promise.all([params, searchParams]);
  const user = await loadUser(id);
  const cursor = textParam(query.cursor);
  const payments = await read(listPaymentsOfUser, { userId: user.id, limit: 10, cursor });
  const t = await getTranslations("adminUsers");
  return (
    <>
      <PageHeader
        back={{ href: "/admin/users", label: t("title") }}
        title={user.name}
        description={user.email}
      />
      <div className="flex flex-col gap-6">
        <AccountCard user={user} />
        <PaymentsCard userId={user.id} page={payments} cursor={cursor} />
        <RoleCard user={user} />
        <DeleteCard user={user} />
      </div>
    </>
  );
});

type ShownUser = NonNullable<Awaited<ReturnType<typeof findUser>>>;

async function AccountCard({ user }: { user: ShownUser }) {
  const [t, format] = await Promise.all([getTranslations("adminUsers"), getFormatter()]);
  return (
    <Card title={t("account.title")}>
      <DescriptionList>
        <DescriptionItem label={t("columns.subscription")}>
          {user.subscription ? (
            <span className="flex flex-wrap gap-x-3">
              {planName(user.subscription.planId)}
              <SubscriptionStatusLabel status={user.subscription.status} />
            </span>
          ) : (
            t("noSubscription")
          )}
        </DescriptionItem>
        <DescriptionItem label={t("columns.lastSeen")}>
          {user.lastSeenAt ? <Day at={user.lastSeenAt} /> : t("never")}
        </DescriptionItem>
        <DescriptionItem label={t("columns.since")}>
          {format.dateTime(user.createdAt, { dateStyle: "long" })}
        </DescriptionItem>
        <DescriptionItem label={t("account.id")}>
          <code className="break-all font-mono text-sm">{user.id}</code>
        </DescriptionItem>
      </DescriptionList>
    </Card>
  );
}

async function PaymentsCard({
  userId,
  page,
  cursor,
}: {
  userId: string;
  page: z.input<typeof listPaymentsOfUser.output>;
  cursor: string | null;
}) {
  const t = await getTranslations("billing.payments");
  return (
    <Card title={t("title")}>
      {page.items.length === 0 ? (
        <p className="text-muted">{t("empty")}</p>
      ) : (
        <PaymentList payments={page.items} />
      )}
      <Pager
        path={`/admin/users/${encodeURIComponent(userId)}`}
        cursor={cursor}
        nextCursor={page.nextCursor}
      />
    </Card>
  );
}

async function RoleCard({ user }: { user: ShownUser }) {
  const [t, { userId }] = await Promise.all([getTranslations("adminUsers"), requireUser()]);
  const isOneself = user.id === userId;
  return (
    <Card title={t("role.title")} description={t(isOneself ? "role.aboutYourself" : "role.about")}>
      <ActionForm
        action={formAction(changeUserRole)}
        successText={t("role.saved")}
        className="flex max-w-md flex-col gap-4"
      >
        <input type="hidden" name="userId" value={user.id} />
        <Select
          label={t("columns.role")}
          name="role"
          help={user.role === "admin" ? t("role.last") : undefined}
          defaultValue={user.role}
          options={ROLES.map((role) => ({ value: role, label: t(`roles.${role}`) }))}
        />
        <div>
          <SubmitButton>{t("role.save")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}

async function DeleteCard({ user }: { user: ShownUser }) {
  const [t, { userId }] = await Promise.all([getTranslations("adminUsers"), requireUser()]);
  if (user.id === userId) {
    return (
      <Card
        title={t("delete.title")}
        description={t.rich("delete.yourself", { settings: (text) => <Link href="/settings">{text}</Link> })}
      />
    );
  }
  return (
    <Card title={t("delete.title")} description={t("delete.about")} tone="danger">
      <ActionForm action={formAction(deleteUser)} className="flex max-w-md flex-col gap-4">
        <input type="hidden" name="userId" value={user.id} />
        <Field
          type="email"
          label={t("delete.confirmation")}
          help={t("delete.confirmationHelp", { email: user.email })}
          name="confirmation"
          required
          autoComplete="off"
          spellCheck={false}
        />
        <div>
          <SubmitButton variant="danger">{t("delete.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
