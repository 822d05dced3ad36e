import { ArrowRight } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { formAction } from "../gate/form-action.ts";
import { completeOnboarding } from "./actions.ts";
import { StepHeading } from "./step-heading.tsx";

const NEXT_PAGES = [
  { href: "/billing", word: "plan", about: "planAbout" },
  { href: "/api-keys", word: "key", about: "keyAbout" },
  { href: "/dashboard", word: "dashboard", about: "dashboardAbout" },
] as const;

export async function NextStep() {
  const t = await getTranslations("onboarding.next");
  return (
    <>
      <StepHeading title={t("title")} description={t("about")} />
      <ActionForm action={formAction(completeOnboarding)} className="flex flex-col gap-3">
        {NEXT_PAGES.map(({ href, word, about }) => (
          <button
            key={href}
            type="submit"
            name="next"
            value={href}
            className="flex items-center justify-between gap-4 rounded-box border border-line-strong px-4 py-3 text-left transition-colors duration-100 hover:bg-raised"
          >
            <span>
              <span className="block font-medium">{t(word)}</span>
              <span className="block text-muted text-sm">{t(about)}</span>
            </span>
            <ArrowRight aria-hidden="true" size={18} className="shrink-0 text-muted" />
          </button>
        ))}
      </ActionForm>
    </>
  );
}
