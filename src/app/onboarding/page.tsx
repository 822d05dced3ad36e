import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { cache } from "react";
import { ActionForm } from "../../ui/action-form.tsx";
import { AccountProvider } from "../../ui/form.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { formAction } from "../gate/form-action.ts";
import { nullOnError } from "../gate/null-on-error.ts";
import { profile } from "../gate/read.ts";
import { ServerError } from "../server-error.tsx";
import { completeOnboarding } from "./actions.ts";
import { NameStep } from "./name-step.tsx";
import { NextStep } from "./next-step.tsx";
import { PreferencesStep } from "./preferences-step.tsx";

const loadUser = cache(() => nullOnError(profile()));

type Query = Promise<{ step?: string | string[] }>;

const STEPS = {
  1: { title: "name.title", Step: NameStep },
  2: { title: "looks.title", Step: PreferencesStep },
  3: { title: "next.title", Step: NextStep },
} as const;

export async function generateMetadata({ searchParams }: { searchParams: Query }): Promise<Metadata> {
  const [t, failed, step] = await Promise.all([
    getTranslations("onboarding"),
    getTranslations("common.failed"),
    searchParams.then(requestedStep),
  ]);
  // The page itself redirects visitors who are signed out.
  const isLoaded = (await loadUser().catch(() => undefined)) !== null;
  return { title: isLoaded ? t(STEPS[step].title) : failed("title") };
}

/** Three steps, each with its own URL; users who are done are redirected. */
export default async function OnboardingPage({ searchParams }: { searchParams: Query }) {
  const user = await loadUser();
  if (user === null) return <ServerError />;
  if (user.onboarded) redirect("/dashboard");
  const [t, step] = await Promise.all([getTranslations("onboarding"), searchParams.then(requestedStep)]);
  const { Step } = STEPS[step];
  return (
    <AccountProvider value={user.id}>
      <main id="content" className="mx-auto flex min-h-dvh w-full max-w-lg flex-col px-4 py-8 sm:py-16">
        <div className="mb-6 flex items-center justify-between gap-4">
          <p className="min-w-0 wrap-anywhere font-semibold text-lg">{t("title", { name: user.name })}</p>
          <p className="shrink-0 text-muted text-sm">{t("progress", { step })}</p>
        </div>
        <progress
          max={3}
          value={step}
          aria-label={t("progress", { step })}
          className="mb-6 h-1 w-full overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
        <div className="rounded-box border border-line bg-surface p-6 shadow-box sm:p-8">
          <Step user={user} />
        </div>
        <div className="mt-4 flex items-center justify-between gap-4 px-2">
          {step > 1 ? <TextLink href={`/onboarding?step=${step - 1}`}>{t("back")}</TextLink> : <span />}
          {step < 3 && (
            <ActionForm action={formAction(completeOnboarding)}>
              <SubmitButton variant="ghost">{t("skip")}</SubmitButton>
            </ActionForm>
          )}
        </div>
      </main>
    </AccountProvider>
  );
}

function requestedStep({ step }: Awaited<Query>): 1 | 2 | 3 {
  return step === "2" ? 2 : step === "3" ? 3 : 1;
}
