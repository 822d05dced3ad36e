import Link from "next/link";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { ExternalLinkButton, LinkButton } from "../../../ui/button.tsx";

/** Shown before anything has been done. */
export async function FirstSteps({ isOnboarded }: { isOnboarded: boolean }) {
  const t = await getTranslations("dashboard");
  return (
    <>
      <ol className="flex flex-col gap-4">
        <Step number={1} title={t("steps.plan")} description={t("steps.planAbout")}>
          <LinkButton variant="primary" href="/billing">
            {t("steps.planWay")}
          </LinkButton>
        </Step>
        <Step number={2} title={t("steps.key")} description={t("steps.keyAbout")}>
          <LinkButton href="/api-keys">{t("steps.keyWay")}</LinkButton>
        </Step>
        <Step number={3} title={t("steps.docs")} description={t("steps.docsAbout")}>
          <ExternalLinkButton href="/api/docs">{t("steps.docsWay")}</ExternalLinkButton>
        </Step>
      </ol>
      {!isOnboarded && (
        <p className="mt-6 text-muted">
          {t.rich("onboarding", {
            link: (text) => (
              <Link href="/onboarding" prefetch={false} className="text-accent underline">
                {text}
              </Link>
            ),
          })}
        </p>
      )}
    </>
  );
}

function Step({
  number,
  title,
  description,
  children,
}: {
  number: number;
  title: string;
  description: string;
  children: ReactNode;
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-box border border-line bg-surface p-4 shadow-box sm:flex-nowrap sm:p-6">
      <span
        aria-hidden="true"
        className="flex size-8 shrink-0 items-center justify-center rounded-full bg-raised font-semibold tabular-nums"
      >
        {number}
      </span>
      <div className="min-w-0 grow basis-56">
        <h2 className="font-semibold">{title}</h2>
        <p className="max-w-prose text-muted">{description}</p>
      </div>
      <div className="shrink-0">{children}</div>
    </li>
  );
}
