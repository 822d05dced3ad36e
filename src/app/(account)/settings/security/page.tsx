import { getTranslations } from "next-intl/server";
import { showSecurity } from "../../../../operations/users/show-security.ts";
import { Notice } from "../../../../ui/notice.tsx";
import { PageHeader } from "../../../../ui/page-header.tsx";
import { read } from "../../../gate/read.ts";
import { titled } from "../../../titled.ts";
import { SessionsCard } from "./sessions-card.tsx";
import { TwoFactorCard } from "./two-factor-card.tsx";

export const generateMetadata = titled("security.title");

type Query = Promise<{ done?: string | string[] }>;

/** What was just done, from `?done=`; the address stays in the tab, so it may no longer be true. */
const DONE = {
  "two-factor-on": { text: "twoFactorOn", hasTwoFactor: true },
  "two-factor-off": { text: "twoFactorOff", hasTwoFactor: false },
  "session-revoked": { text: "sessionRevoked", hasTwoFactor: null },
} as const;

export default async function SecurityPage({ searchParams }: { searchParams: Query }) {
  const [t, settings, { done }, security] = await Promise.all([
    getTranslations("security"),
    getTranslations("settings"),
    searchParams,
    read(showSecurity, {}),
  ]);
  const notice = Object.entries(DONE).find(([name]) => name === done)?.[1];
  const isStillTrue = notice?.hasTwoFactor === null || notice?.hasTwoFactor === security.hasTwoFactor;
  return (
    <>
      <PageHeader
        back={{ href: "/settings", label: settings("title") }}
        title={t("title")}
        {...(security.needsTwoFactor && { description: t("required") })}
      />
      {notice && isStillTrue && <Notice>{t(`done.${notice.text}`)}</Notice>}
      <div className="flex flex-col gap-6">
        <TwoFactorCard isEnabled={security.hasTwoFactor} />
        <SessionsCard />
      </div>
    </>
  );
}
