import Link from "next/link";
import type { ReactNode } from "react";
import { LinkButton } from "./button.tsx";

const LINK = "rounded-box px-2 py-1.5 text-muted hover:text-ink";

/** A public page: header, content, footer. */
export function PublicFrame({
  labels,
  isSomebody,
  children,
}: {
  labels: Record<
    "product" | "navigation" | "plans" | "docs" | "signIn" | "signUp" | "dashboard" | "about",
    string
  >;
  isSomebody: boolean;
  children: ReactNode;
}) {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="border-line border-b bg-surface">
        <nav
          aria-label={labels.navigation}
          className="mx-auto flex w-full max-w-5xl flex-wrap items-center gap-x-2 gap-y-1 px-4 py-2 sm:px-8"
        >
          <Link href="/" prefetch={false} className="mr-auto rounded-box py-1.5 font-semibold text-lg">
            {labels.product}
          </Link>
          <Link href="/#plans" prefetch={false} className={`${LINK} hidden sm:block`}>
            {labels.plans}
          </Link>
          <a href="/api/docs" className={`${LINK} hidden sm:block`}>
            {labels.docs}
          </a>
          {isSomebody ? (
            <LinkButton href="/dashboard" variant="primary">
              {labels.dashboard}
            </LinkButton>
          ) : (
            <>
              <LinkButton href="/sign-in" variant="ghost">
                {labels.signIn}
              </LinkButton>
              <LinkButton href="/sign-up">{labels.signUp}</LinkButton>
            </>
          )}
        </nav>
      </header>
      <main id="content" className="mx-auto flex w-full max-w-5xl grow flex-col px-4 py-8 sm:px-8 sm:py-12">
        {children}
      </main>
      <footer className="border-line border-t">
        <div className="mx-auto flex w-full max-w-5xl flex-wrap items-center justify-between gap-x-6 gap-y-1 px-4 py-4 text-muted text-sm sm:px-8">
          <p>{labels.about}</p>
          <p className="flex gap-4">
            <Link
              href="/#plans"
              prefetch={false}
              className="py-1 underline underline-offset-2 hover:text-ink"
            >
              {labels.plans}
            </Link>
            <a href="/api/docs" className="py-1 underline underline-offset-2 hover:text-ink">
              {labels.docs}
            </a>
          </p>
        </div>
      </footer>
    </div>
  );
}
