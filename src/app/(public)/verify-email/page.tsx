import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { DeadEnd } from "../../../ui/dead-end.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("auth.verify");
  return { title: words("title") };
}

type Query = Promise<{ error?: string | string[] }>;

/** Where the link that confirms an address leads. */
export default async function VerifyEmailPage({ searchParams }: { searchParams: Query }) {
  const [words, { error }] = await Promise.all([getTranslations("auth"), searchParams]);
  const isBad = error !== undefined;
  return (
    <DeadEnd
      words={{
        title: isBad ? words("reset.badLinkTitle") : words("verify.title"),
        about: isBad ? words("verify.badLink") : words("verify.about"),
        way: words("signIn.submit"),
      }}
      href="/sign-in"
    />
  );
}
