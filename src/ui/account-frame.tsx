import {
  Bell,
  CreditCard,
  KeyRound,
  KeySquare,
  LayoutDashboard,
  LogOut,
  Menu,
  Repeat,
  ScrollText,
  Send,
  Settings,
  Users,
  Webhook,
  X,
} from "lucide-react";
import type { ReactNode } from "react";
import { NavLink } from "./nav-link.tsx";
import { NavigationProvider, NavigationSkeleton } from "./navigation-skeleton.tsx";
import { Sheet } from "./sheet.tsx";
import { SignOutFailure, SignOutForm, SignOutForms } from "./sign-out.tsx";
import { SubmitButton } from "./submit-button.tsx";
import type { FormAction } from "./use-form-action.ts";

const ICONS = {
  dashboard: LayoutDashboard,
  billing: CreditCard,
  apiKeys: KeyRound,
  notifications: Bell,
  settings: Settings,
  users: Users,
  webhooks: Webhook,
  subscriptions: Repeat,
  serviceKeys: KeySquare,
  eventEndpoints: Send,
  audit: ScrollText,
};

type NavEntry = {
  href: string;
  icon: keyof typeof ICONS;
  label: string;
  /** The count beside the link, if not zero. */
  count?: number;
  countLabel?: string;
};

type AccountFrameProps = {
  entries: readonly NavEntry[];
  /** Empty without permission. */
  administration: readonly NavEntry[];
  person: { name: string; email: string };
  labels: Record<"product" | "navigation" | "administration" | "menu" | "close" | "signOut", string>;
  signOut: FormAction;
  /** Skeletons of the pages, by path. */
  skeletons: Record<string, ReactNode>;
  children: ReactNode;
};

/**
 * The side bar with the page beside it; where both have no room the bar is a sheet, which opens without JavaScript
 * too. Printed without it.
 */
export function AccountFrame({ children, skeletons, signOut, ...props }: AccountFrameProps) {
  const { labels } = props;
  return (
    <NavigationProvider>
      <SignOutForms action={signOut}>
        <div className="lg:grid lg:grid-cols-[17rem_minmax(0,1fr)] print:block">
          <aside className="sticky top-0 hidden h-dvh overflow-y-auto border-line border-r bg-surface lg:block print:hidden">
            <Bar {...props} />
          </aside>
          <header className="flex items-center justify-between border-line border-b bg-surface px-4 py-2 lg:hidden print:hidden">
            <span className="font-semibold">{labels.product}</span>
            <button
              type="button"
              popoverTarget="sheet"
              className="rounded-box p-2 hover:bg-raised"
              aria-label={labels.menu}
            >
              <Menu aria-hidden="true" size={20} />
            </button>
          </header>
          <SignOutFailure className="hidden border-line border-b bg-surface px-4 py-3 print:hidden noscript:max-lg:block" />
          <Sheet
            id="sheet"
            className="m-0 h-dvh max-h-none w-72 max-w-[85vw] border-line border-r bg-surface text-ink backdrop:bg-[rgb(0_0_0/0.4)]"
          >
            <button
              type="button"
              popoverTarget="sheet"
              popoverTargetAction="hide"
              className="absolute top-3 right-3 rounded-box p-2 hover:bg-raised"
              aria-label={labels.close}
            >
              <X aria-hidden="true" size={20} />
            </button>
            <Bar {...props} />
          </Sheet>
          <main id="content" className="mx-auto w-full max-w-5xl px-4 py-6 sm:px-8 sm:py-8">
            <NavigationSkeleton skeletons={skeletons}>{children}</NavigationSkeleton>
          </main>
        </div>
      </SignOutForms>
    </NavigationProvider>
  );
}

function Bar({
  entries,
  administration,
  person,
  labels,
}: Omit<AccountFrameProps, "children" | "skeletons" | "signOut">) {
  return (
    <div className="flex min-h-full flex-col gap-6 p-3 pt-4">
      <span className="px-3 font-semibold text-lg">{labels.product}</span>
      <nav aria-label={labels.navigation} className="flex flex-col gap-1">
        {entries.map((entry) => (
          <Item key={entry.href} entry={entry} />
        ))}
        {administration.length > 0 && (
          <>
            <p className="mt-4 px-3 text-muted text-sm">{labels.administration}</p>
            {administration.map((entry) => (
              <Item key={entry.href} entry={entry} />
            ))}
          </>
        )}
      </nav>
      <SignOutForm className="mt-auto border-line border-t pt-3 pl-3">
        <div className="flex items-center justify-between gap-1">
          <div className="min-w-0 text-sm">
            {/* By its own direction: the end is what is cut off. */}
            <p dir="auto" className="truncate text-left font-medium" title={person.name}>
              {person.name}
            </p>
            <p className="truncate text-muted" title={person.email}>
              {person.email}
            </p>
          </div>
          <SubmitButton variant="ghost" aria-label={labels.signOut} title={labels.signOut} className="px-2">
            <LogOut aria-hidden="true" size={18} />
          </SubmitButton>
        </div>
      </SignOutForm>
    </div>
  );
}

function Item({ entry }: { entry: NavEntry }) {
  const Icon = ICONS[entry.icon];
  return (
    <NavLink href={entry.href}>
      <Icon aria-hidden="true" size={18} className="shrink-0" />
      <span className="min-w-0 grow truncate">{entry.label}</span>
      {entry.count ? (
        <span className="rounded-full bg-accent px-2 text-on-accent text-sm">
          <span aria-hidden="true">{entry.count}</span>
          <span className="sr-only">{entry.countLabel}</span>
        </span>
      ) : null}
    </NavLink>
  );
}
