import { ArrowLeft } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { getTranslations } from "next-intl/server";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { readAccount } from "../../../gate/read-account.ts";
import { requireUser } from "../../../gate/request.ts";
import { SessionsCard } from "./sessions-card.tsx";
import { TwoFactorCard } from "./two-factor-card.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("security");
  return { title: t("title") };
}

type Query = Promise<{ done?: string | string[] }>;

/** What was just done, from `?done=`. */
const DONE = {
  "two-factor-on": "twoFactorOn",
  "two-factor-off": "twoFactorOff",
  "session-revoked": "sessionRevoked",
} as const;

export default async function SecurityPage({ searchParams }: { searchParams: Query }) {
  const user = await requireUser();
  const [t, settings, { done }, session] = await Promise.all([
    getTranslations("security"),
    getTranslations("settings"),
    searchParams,
    readAccount<{ user: { twoFactorEnabled?: boolean | null } } | null>("/get-session"),
  ]);
  const notice = Object.entries(DONE).find(([name]) => name === done)?.[1];
  const isRequired = user.kind === "session" && user.needsTwoFactor === true;
  return (
    <>
      <Link href="/settings" className="mb-2 inline-flex items-center gap-1 py-1 text-muted text-sm">
        <ArrowLeft aria-hidden="true" size={14} />
        {settings("title")}
      </Link>
      <PageHeader title={t("title")} {...(isRequired && { description: t("required") })} />
      {notice && <Notice>{t(`done.${notice}`)}</Notice>}
      <div className="flex flex-col gap-6">
        <TwoFactorCard isEnabled={session?.user.twoFactorEnabled === true} />
        <SessionsCard />
      </div>
    </>
  );
}
