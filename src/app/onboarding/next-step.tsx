import { ArrowRight } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { finish } from "./forms.ts";
import { StepHeading } from "./step-heading.tsx";

const WAYS = [
  { href: "/billing", word: "plan", about: "planAbout" },
  { href: "/api-keys", word: "key", about: "keyAbout" },
  { href: "/dashboard", word: "dashboard", about: "dashboardAbout" },
] as const;

export async function NextStep() {
  const [words, common] = await Promise.all([getTranslations("onboarding.next"), getTranslations("common")]);
  return (
    <>
      <StepHeading title={words("title")} about={words("about")} />
      <ActionForm action={finish} waitWords={common.raw("wait")} className="flex flex-col gap-3">
        {WAYS.map(({ href, word, about }) => (
          <button
            key={href}
            type="submit"
            name="next"
            value={href}
            className="flex items-center justify-between gap-4 rounded-box border border-line-strong px-4 py-3 text-left transition-colors duration-100 hover:bg-raised"
          >
            <span>
              <span className="block font-medium">{words(word)}</span>
              <span className="block text-muted text-sm">{words(about)}</span>
            </span>
            <ArrowRight aria-hidden="true" size={18} className="shrink-0 text-muted" />
          </button>
        ))}
      </ActionForm>
    </>
  );
}
