import { getTranslations } from "next-intl/server";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";
import { sameSitePath, signInPath } from "../../gate/same-site-path.ts";
import { titled } from "../../titled.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export const generateMetadata = titled("auth.signUp.title");

type Query = Promise<{ next?: string | string[] }>;

export default async function SignUpPage({ searchParams }: { searchParams: Query }) {
  const next = sameSitePath([(await searchParams).next].flat()[0], "");
  await redirectIfSignedIn(next || undefined);
  const t = await getTranslations("auth.signUp");
  return (
    <NarrowPage
      title={t("title")}
      after={
        <>
          {t("haveAccount")} <TextLink href={signInPath(next || null)}>{t("signIn")}</TextLink>
        </>
      }
    >
      <SignUpForm next={next || null} />
    </NarrowPage>
  );
}
