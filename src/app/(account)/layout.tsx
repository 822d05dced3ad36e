import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { unreadCount } from "../../operations/notifications/unread-count.ts";
import { Frame } from "../../ui/frame.tsx";
import { ifKnown } from "../gate/if-known.ts";
import { profile, read } from "../gate/read.ts";
import { NotNow } from "../not-now.tsx";
import { SHAPES } from "./shapes.tsx";
import { signOut } from "./sign-out.ts";

/** Everything that one has to be signed in for. */
export default async function AccountLayout({ children }: { children: ReactNode }) {
  const words = await getTranslations("account");
  const known = await ifKnown(Promise.all([profile(), read(unreadCount, {})]));
  if (known === null) return <NotNow />;
  const [user, unread] = known;
  const places = [
    { href: "/dashboard", icon: "dashboard", label: words("dashboard") },
    { href: "/billing", icon: "billing", label: words("billing") },
    { href: "/api-keys", icon: "apiKeys", label: words("apiKeys") },
    {
      href: "/notifications",
      icon: "notifications",
      label: words("notifications"),
      count: unread.count,
      countLabel: words("unread", { count: unread.count }),
    },
    { href: "/settings", icon: "settings", label: words("settings") },
  ] as const;
  const administration = [
    { href: "/admin/users", icon: "users", label: words("users") },
    { href: "/admin/webhooks", icon: "webhooks", label: words("webhooks") },
    { href: "/admin/subscriptions", icon: "subscriptions", label: words("subscriptions") },
  ] as const;
  return (
    <Frame
      places={places}
      administration={user.role === "admin" ? administration : []}
      person={{ name: user.name, email: user.email }}
      words={{
        product: "Tollgate",
        navigation: words("navigation"),
        administration: words("administration"),
        menu: words("menu"),
        close: words("close"),
        signOut: words("signOut"),
      }}
      signOut={signOut}
      shapes={SHAPES}
    >
      {children}
    </Frame>
  );
}
