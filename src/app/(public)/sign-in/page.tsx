import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Field, Toggle } from "../../../ui/field.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { sameSitePath } from "../../gate/same-site-path.ts";
import { nobody } from "../../gate/visitor.ts";
import { openSession } from "./forms.ts";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.signIn");
  return { title: words("title") };
}

type Query = Promise<{ next?: string | string[]; after?: string | string[] }>;

/** How one may have come here, as `?after=` says. */
const AFTER = { "signing-out": "signedOut", "new-password": "passwordSet" } as const;

export default async function SignInPage({ searchParams }: { searchParams: Query }) {
  const { next, after } = await searchParams;
  const onTo = sameSitePath([next].flat()[0], "");
  await nobody(onTo || undefined);
  const [words, common] = await Promise.all([getTranslations("auth"), getTranslations("common")]);
  const cameFrom = Object.entries(AFTER).find(([name]) => name === after)?.[1];
  return (
    <NarrowPage
      title={words("signIn.title")}
      about={!cameFrom && onTo && words("signIn.first")}
      after={
        <>
          {words("signIn.noAccount")} <TextLink href="/sign-up">{words("signIn.signUp")}</TextLink>
        </>
      }
    >
      {cameFrom && <Notice>{words(`signIn.${cameFrom}`)}</Notice>}
      <ActionForm action={openSession} waitWords={common.raw("wait")} className="flex flex-col gap-3">
        {onTo && <input type="hidden" name="next" value={onTo} />}
        <Field
          label={words("fields.email")}
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="username"
        />
        <Field
          label={words("fields.password")}
          name="password"
          type="password"
          required
          autoComplete="current-password"
        />
        <Toggle
          label={words("fields.rememberMe")}
          help={words("fields.rememberMeHelp")}
          name="rememberMe"
          defaultChecked
        />
        <SubmitButton className="mt-2">{words("signIn.submit")}</SubmitButton>
        <p className="text-center">
          <TextLink href="/forgotten-password">{words("signIn.forgotten")}</TextLink>
        </p>
      </ActionForm>
    </NarrowPage>
  );
}
