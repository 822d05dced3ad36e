import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.signUp");
  return { title: t("title") };
}

export default async function SignUpPage() {
  await redirectIfSignedIn();
  const t = await getTranslations("auth.signUp");
  return (
    <NarrowPage
      title={t("title")}
      after={
        <>
          {t("haveAccount")} <TextLink href="/sign-in">{t("signIn")}</TextLink>
        </>
      }
    >
      <SignUpForm />
    </NarrowPage>
  );
}
