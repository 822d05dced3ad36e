import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { DeadEnd } from "../../../ui/dead-end.tsx";
import { Field } from "../../../ui/field.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { setPassword } from "./forms.ts";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.reset");
  return { title: words("title") };
}

type Query = Promise<{ token?: string | string[]; error?: string | string[] }>;

/** Where the link of a mail leads: with a token, or with an error when it holds no longer. */
export default async function ResetPasswordPage({ searchParams }: { searchParams: Query }) {
  const [words, common, { token, error }] = await Promise.all([
    getTranslations("auth"),
    getTranslations("common"),
    searchParams,
  ]);
  if (typeof token !== "string" || error !== undefined) {
    return (
      <DeadEnd
        words={{
          title: words("reset.badLinkTitle"),
          about: words("reset.badLink"),
          way: words("reset.askAgain"),
        }}
        href="/forgotten-password"
      />
    );
  }
  return (
    <NarrowPage
      title={words("reset.title")}
      about={words("reset.about")}
      after={<TextLink href="/forgotten-password">{words("reset.askAgain")}</TextLink>}
    >
      <ActionForm action={setPassword} waitWords={common.raw("wait")} className="flex flex-col gap-3">
        <input type="hidden" name="token" value={token} />
        <Field
          label={words("fields.newPassword")}
          help={words("fields.passwordHelp")}
          name="newPassword"
          type="password"
          required
          minLength={8}
          maxLength={128}
          autoComplete="new-password"
        />
        <SubmitButton>{words("reset.submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
