import { Check } from "lucide-react";
import { LinkButton } from "./button.tsx";

/** A plan in a list of plans. */
export function PlanCard({
  name,
  price,
  per,
  seats,
  features,
  way,
}: {
  name: string;
  price: string;
  per: string;
  seats: string;
  features: readonly string[];
  way: { href: string; label: string };
}) {
  return (
    <li className="flex flex-col rounded-box border border-line bg-surface p-6 shadow-box">
      <h3 className="font-semibold">{name}</h3>
      <p className="mt-3 flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold text-xl tabular-nums">{price}</span>
        <span className="text-muted text-sm">{per}</span>
      </p>
      <p className="mt-1 text-muted text-sm">{seats}</p>
      <ul className="mt-5 mb-6 flex flex-col gap-2">
        {features.map((feature) => (
          <li key={feature} className="flex items-start gap-2">
            <Check aria-hidden="true" size={18} className="mt-0.5 shrink-0 text-good" />
            {feature}
          </li>
        ))}
      </ul>
      <LinkButton href={way.href} className="mt-auto">
        {way.label}
      </LinkButton>
    </li>
  );
}
