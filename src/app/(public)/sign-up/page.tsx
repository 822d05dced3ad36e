import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { nobody } from "../../gate/visitor.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.signUp");
  return { title: words("title") };
}

export default async function SignUpPage() {
  await nobody();
  const words = await getTranslations("auth.signUp");
  return (
    <NarrowPage
      title={words("title")}
      after={
        <>
          {words("haveAccount")} <TextLink href="/sign-in">{words("signIn")}</TextLink>
        </>
      }
    >
      <SignUpForm />
    </NarrowPage>
  );
}
