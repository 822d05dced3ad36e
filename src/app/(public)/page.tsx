import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { getLocale, getTranslations } from "next-intl/server";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { LinkButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { PlanCard } from "../../ui/plan-card.tsx";
import { PlanGrid } from "../../ui/plan-grid.tsx";
import { formatPrice } from "../../ui/price.ts";
import { optionalUser } from "../gate/optional-user.ts";
import { read } from "../gate/read.ts";
import { currentRequest } from "../gate/request.ts";
import { signUpPath } from "../gate/same-site-path.ts";
import { SignUpForm } from "./sign-up/sign-up-form.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("landing");
  return { title: { absolute: t("title") } };
}

type Query = Promise<{ error?: string | string[] }>;

export default async function LandingPage({ searchParams }: { searchParams: Query }) {
  // Links that confirm an address and name no page lead here.
  if ((await searchParams).error !== undefined) redirect("/verify-email?error");
  const [t, someone, { appUrl }] = await Promise.all([
    getTranslations("landing"),
    optionalUser(),
    currentRequest(),
  ]);
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-8 md:grid-cols-[1fr_22rem] md:gap-12">
        <div>
          <h1 className="wrap-break-word text-balance font-semibold text-xl tracking-tight">{t("title")}</h1>
          <p className="mt-4 max-w-prose text-muted">{t("about")}</p>
          <p className="mt-8 text-muted text-sm">{t("tryIt")}</p>
          <pre className="wrap-anywhere mt-2 whitespace-pre-wrap rounded-box border border-line bg-raised px-4 py-3 text-sm">
            <code>curl {appUrl}/api/plans</code>
          </pre>
        </div>
        {someone ? <WelcomeBack /> : <SignUpCard />}
      </div>
      <Plans isSomebody={someone !== null} />
    </>
  );
}

async function SignUpCard() {
  const t = await getTranslations("landing");
  return (
    <Card title={t("signUp")}>
      <SignUpForm />
    </Card>
  );
}

async function WelcomeBack() {
  const t = await getTranslations("landing");
  return (
    <Card title={t("welcomeBack.title")} description={t("welcomeBack.about")}>
      <LinkButton href="/dashboard" variant="primary">
        {t("header.dashboard")}
      </LinkButton>
    </Card>
  );
}

async function Plans({ isSomebody }: { isSomebody: boolean }) {
  const [t, locale] = await Promise.all([getTranslations("landing.plans"), getLocale()]);
  const { items } = await read(listPlans, { limit: 100, locale });
  const forSale = items.filter((plan) => plan.isForSale);
  const perSeat = { month: t("perMonth"), year: t("perYear") };
  return (
    <section id="plans" aria-labelledby="plans-title" className="mt-16 scroll-mt-8">
      <h2 id="plans-title" className="font-semibold text-lg">
        {t("title")}
      </h2>
      <p className="mt-1 text-muted">{t("about")}</p>
      <PlanGrid className="mt-6">
        {forSale.map(({ id, name, price, seats, features }) => {
          const planPath = price.amount > 0 ? `/billing?${new URLSearchParams({ plan: id })}` : null;
          return (
            <PlanCard
              key={id}
              name={name}
              price={formatPrice(locale, price)}
              per={perSeat[price.interval]}
              seats={seats.min === seats.max ? t("seats", { min: seats.min }) : t("seatsBetween", seats)}
              features={features}
              way={
                isSomebody
                  ? { href: planPath ?? "/billing", label: t("see") }
                  : { href: signUpPath(planPath), label: t("choose", { plan: name }) }
              }
            />
          );
        })}
      </PlanGrid>
    </section>
  );
}
