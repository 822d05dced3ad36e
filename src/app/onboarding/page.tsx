import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { ifKnown } from "../gate/if-known.ts";
import { profile } from "../gate/read.ts";
import { NotNow } from "../not-now.tsx";
import { finish } from "./forms.ts";
import { LooksStep } from "./looks-step.tsx";
import { NameStep } from "./name-step.tsx";
import { NextStep } from "./next-step.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("onboarding");
  return { title: words("name.title") };
}

const STEPS = [NameStep, LooksStep, NextStep];

type Query = Promise<{ step?: string | string[] }>;

/** Three steps, each an address of its own; who has been through them goes on. */
export default async function OnboardingPage({ searchParams }: { searchParams: Query }) {
  const user = await ifKnown(profile());
  if (user === null) return <NotNow />;
  if (user.onboarded) redirect("/dashboard");
  const [words, common, { step: wanted }] = await Promise.all([
    getTranslations("onboarding"),
    getTranslations("common"),
    searchParams,
  ]);
  const step = wanted === "2" || wanted === "3" ? Number(wanted) : 1;
  const Step = STEPS[step - 1] ?? NameStep;
  return (
    <main id="content" className="mx-auto flex min-h-dvh w-full max-w-lg flex-col px-4 py-8 sm:py-16">
      <div className="mb-6 flex items-center justify-between gap-4">
        <p className="min-w-0 truncate font-semibold text-lg">{words("title", { name: user.name })}</p>
        <p className="shrink-0 text-muted text-sm">{words("progress", { step })}</p>
      </div>
      <progress
        max={3}
        value={step}
        aria-label={words("progress", { step })}
        className="mb-6 h-1 w-full overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
      />
      <div className="rounded-box border border-line bg-surface p-6 shadow-box sm:p-8">
        <Step user={user} />
      </div>
      <div className="mt-4 flex items-center justify-between gap-4 px-2">
        {step > 1 ? <TextLink href={`/onboarding?step=${step - 1}`}>{words("back")}</TextLink> : <span />}
        {step < 3 && (
          <ActionForm action={finish} waitWords={common.raw("wait")}>
            <SubmitButton look="quiet">{words("skip")}</SubmitButton>
          </ActionForm>
        )}
      </div>
    </main>
  );
}
