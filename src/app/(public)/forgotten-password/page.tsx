import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { DeadEnd } from "../../../ui/dead-end.tsx";
import { Field } from "../../../ui/field.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { sendLink } from "./forms.ts";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.forgotten");
  return { title: words("title") };
}

type Query = Promise<{ sent?: string | string[] }>;

export default async function ForgottenPasswordPage({ searchParams }: { searchParams: Query }) {
  const [words, common, { sent }] = await Promise.all([
    getTranslations("auth"),
    getTranslations("common"),
    searchParams,
  ]);
  if (sent !== undefined) {
    return (
      <DeadEnd
        words={{
          title: words("forgotten.sentTitle"),
          about: words("forgotten.sent"),
          way: words("forgotten.back"),
        }}
        href="/sign-in"
      />
    );
  }
  return (
    <NarrowPage
      title={words("forgotten.title")}
      about={words("forgotten.about")}
      after={<TextLink href="/sign-in">{words("forgotten.back")}</TextLink>}
    >
      <ActionForm action={sendLink} waitWords={common.raw("wait")} className="flex flex-col gap-3">
        <Field
          label={words("fields.email")}
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="username"
        />
        <SubmitButton>{words("forgotten.submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
