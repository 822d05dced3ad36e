import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { AccountFrame } from "../../ui/account-frame.tsx";
import { AccountProvider } from "../../ui/form.tsx";
import { FrameStateProvider } from "../../ui/frame-refresh.tsx";
import { formAction } from "../gate/form-action.ts";
import { messageTitle } from "../message-title.ts";
import { ServerError } from "../server-error.tsx";
import { signOut } from "./actions.ts";
import { loadFrame } from "./load-frame.ts";
import { SKELETONS } from "./skeletons.tsx";

export async function generateMetadata(): Promise<Metadata> {
  // The layout itself redirects visitors who are signed out.
  const isLoaded = (await loadFrame().catch(() => "signed out")) !== null;
  if (isLoaded) return {};
  const t = await getTranslations("common.failed");
  return messageTitle(t("title"));
}

/** Layout of all pages that require a session. */
export default async function AccountLayout({
  children,
  banner,
}: {
  children: ReactNode;
  banner: ReactNode;
}) {
  const [t, common] = await Promise.all([getTranslations("account"), getTranslations("common")]);
  const loaded = await loadFrame();
  if (loaded === null) return <ServerError />;
  const { user, unread, state } = loaded;
  const entries = [
    { href: "/dashboard", icon: "dashboard", label: t("dashboard") },
    { href: "/billing", icon: "billing", label: t("billing") },
    { href: "/api-keys", icon: "apiKeys", label: t("apiKeys") },
    {
      href: "/notifications",
      icon: "notifications",
      label: t("notifications"),
      count: unread,
      countLabel: t("unread", { count: unread }),
    },
    { href: "/settings", icon: "settings", label: t("settings") },
  ] as const;
  const administration = [
    { href: "/admin/users", icon: "users", label: t("users") },
    { href: "/admin/webhooks", icon: "webhooks", label: t("webhooks") },
    { href: "/admin/subscriptions", icon: "subscriptions", label: t("subscriptions") },
    { href: "/admin/service-keys", icon: "serviceKeys", label: t("serviceKeys") },
    { href: "/admin/event-endpoints", icon: "eventEndpoints", label: t("eventEndpoints") },
    { href: "/admin/audit", icon: "audit", label: t("audit") },
  ] as const;
  return (
    <AccountFrame
      entries={entries}
      administration={user.role === "admin" ? administration : []}
      person={{ name: user.name, email: user.email }}
      labels={{
        product: common("product"),
        navigation: t("navigation"),
        administration: t("administration"),
        menu: t("menu"),
        close: t("close"),
        signOut: t("signOut"),
      }}
      signOut={formAction(signOut)}
      skeletons={SKELETONS}
    >
      <FrameStateProvider value={state}>{banner}</FrameStateProvider>
      <AccountProvider value={user.id}>{children}</AccountProvider>
    </AccountFrame>
  );
}
