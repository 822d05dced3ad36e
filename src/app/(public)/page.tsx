import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { getLocale, getTranslations } from "next-intl/server";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { LinkButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { PlanCard } from "../../ui/plan-card.tsx";
import { formatPrice } from "../../ui/price.ts";
import { read } from "../gate/read.ts";
import { currentRequest } from "../gate/request.ts";
import { visitor } from "../gate/visitor.ts";
import { SignUpForm } from "./sign-up/sign-up-form.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("landing");
  return { title: { absolute: words("title") } };
}

type Query = Promise<{ error?: string | string[] }>;

export default async function LandingPage({ searchParams }: { searchParams: Query }) {
  // Links that confirm an address and name no page lead here.
  if ((await searchParams).error !== undefined) redirect("/verify-email?error");
  const [words, someone] = await Promise.all([getTranslations("landing"), visitor()]);
  return (
    <>
      <div className="grid items-start gap-8 md:grid-cols-[1fr_22rem] md:gap-12">
        <div>
          <h1 className="text-balance font-semibold text-xl tracking-tight">{words("title")}</h1>
          <p className="mt-4 max-w-prose text-muted">{words("about")}</p>
          <p className="mt-8 text-muted text-sm">{words("tryIt")}</p>
          <pre className="mt-2 overflow-x-auto rounded-box border border-line bg-raised px-4 py-3 text-sm">
            <code>curl {currentRequest().appUrl}/api/plans</code>
          </pre>
        </div>
        {someone ? <WelcomeBack /> : <SignUpCard />}
      </div>
      <Plans isSomebody={someone !== null} />
    </>
  );
}

async function SignUpCard() {
  const words = await getTranslations("landing");
  return (
    <Card title={words("signUp")}>
      <SignUpForm />
    </Card>
  );
}

async function WelcomeBack() {
  const words = await getTranslations("landing");
  return (
    <Card title={words("welcomeBack.title")} about={words("welcomeBack.about")}>
      <LinkButton href="/dashboard" look="main">
        {words("header.dashboard")}
      </LinkButton>
    </Card>
  );
}

async function Plans({ isSomebody }: { isSomebody: boolean }) {
  const [words, locale, { items }] = await Promise.all([
    getTranslations("landing.plans"),
    getLocale(),
    read(listPlans, {}),
  ]);
  const perSeat = { month: words("perMonth"), year: words("perYear") };
  return (
    <section id="plans" aria-labelledby="plans-title" className="mt-16 scroll-mt-8">
      <h2 id="plans-title" className="font-semibold text-lg">
        {words("title")}
      </h2>
      <p className="mt-1 text-muted">{words("about")}</p>
      <ul className="mt-6 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {items.map(({ id, name, price, seats, features }) => (
          <PlanCard
            key={id}
            name={name}
            price={formatPrice(locale, price)}
            per={perSeat[price.interval]}
            seats={
              seats.min === seats.max ? words("seats", { min: seats.min }) : words("seatsBetween", seats)
            }
            features={features}
            way={
              isSomebody
                ? { href: "/billing", label: words("see") }
                : { href: "/sign-up", label: words("choose", { plan: name }) }
            }
          />
        ))}
      </ul>
    </section>
  );
}
