import { ArrowLeft } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { getFormatter, getTranslations } from "next-intl/server";
import { ROLES } from "../../../../../domain/caller.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Fact, Facts } from "../../../../../ui/facts.tsx";
import { Choice, Field } from "../../../../../ui/field.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { Time } from "../../../../../ui/time.tsx";
import { administrator } from "../../../../gate/read.ts";
import { person } from "../../../../gate/request.ts";
import { planName, SubscriptionState } from "../../subscription-state.tsx";
import { findPerson } from "../find-person.ts";
import { removeUser, saveRole } from "../forms.ts";

type Params = { params: Promise<{ id: string }> };

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("adminUsers");
  return { title: words("title") };
}

export default async function UserPage({ params }: Params) {
  await administrator();
  const { id } = await params;
  const found = (await findPerson(id)) ?? notFound();
  const words = await getTranslations("adminUsers");
  return (
    <>
      <Link href="/admin/users" className="mb-2 inline-flex items-center gap-1 py-1 text-muted text-sm">
        <ArrowLeft aria-hidden="true" size={14} />
        {words("title")}
      </Link>
      <PageHeader title={found.name} about={found.email} />
      <div className="flex flex-col gap-6">
        <Account one={found} />
        <Role one={found} />
        <Deletion one={found} />
      </div>
    </>
  );
}

type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>;

async function Account({ one }: { one: Person }) {
  const [words, format] = await Promise.all([getTranslations("adminUsers"), getFormatter()]);
  return (
    <Card title={words("account.title")}>
      <Facts>
        <Fact label={words("columns.subscription")}>
          {one.subscription ? (
            <span className="flex flex-wrap gap-x-3">
              {planName(one.subscription.planId)}
              <SubscriptionState status={one.subscription.status} />
            </span>
          ) : (
            words("noSubscription")
          )}
        </Fact>
        <Fact label={words("columns.lastSeen")}>
          {one.lastSeenAt ? <Time at={one.lastSeenAt} /> : words("never")}
        </Fact>
        <Fact label={words("columns.since")}>{format.dateTime(one.createdAt, { dateStyle: "long" })}</Fact>
        <Fact label={words("account.id")}>
          <code className="break-all font-mono text-sm">{one.id}</code>
        </Fact>
      </Facts>
    </Card>
  );
}

async function Role({ one }: { one: Person }) {
  const [words, common, { userId }] = await Promise.all([
    getTranslations("adminUsers"),
    getTranslations("common"),
    person(),
  ]);
  const isOneself = one.id === userId;
  return (
    <Card title={words("role.title")} about={words(isOneself ? "role.aboutYourself" : "role.about")}>
      <ActionForm
        action={saveRole}
        done={words("role.saved")}
        waitWords={common.raw("wait")}
        className="flex max-w-md flex-col gap-4"
      >
        <input type="hidden" name="userId" value={one.id} />
        <Choice
          label={words("columns.role")}
          name="role"
          help={one.role === "admin" ? words("role.last") : undefined}
          defaultValue={one.role}
          options={ROLES.map((role) => ({ value: role, label: words(`roles.${role}`) }))}
        />
        <div>
          <SubmitButton>{words("role.save")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}

async function Deletion({ one }: { one: Person }) {
  const [words, common, { userId }] = await Promise.all([
    getTranslations("adminUsers"),
    getTranslations("common"),
    person(),
  ]);
  if (one.id === userId) {
    return (
      <Card
        title={words("delete.title")}
        about={words.rich("delete.yourself", { settings: (text) => <Link href="/settings">{text}</Link> })}
      />
    );
  }
  return (
    <Card title={words("delete.title")} about={words("delete.about")} tone="danger">
      <ActionForm action={removeUser} waitWords={common.raw("wait")} className="flex max-w-md flex-col gap-4">
        <input type="hidden" name="userId" value={one.id} />
        <Field
          type="email"
          label={words("delete.confirmation")}
          help={words("delete.confirmationHelp", { email: one.email })}
          name="confirmation"
          required
          autoComplete="off"
          spellCheck={false}
        />
        <div>
          <SubmitButton look="danger">{words("delete.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
