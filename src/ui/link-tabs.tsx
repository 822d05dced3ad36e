import Link from "next/link";

type Tab = { href: string; text: string; isCurrent: boolean };

/** Links to other views of the same page; nothing where there is only one. */
export function LinkTabs({
  label,
  tabs,
  className,
}: {
  /** Names the navigation for screen readers. */
  label: string;
  tabs: readonly Tab[];
  className: string;
}) {
  if (tabs.length < 2) return null;
  return (
    <nav aria-label={label} className={className}>
      <ul className="flex flex-wrap gap-2 text-sm">
        {tabs.map(({ href, text, isCurrent }) => (
          <li key={href}>
            <Link
              href={href}
              prefetch={false}
              scroll={false}
              aria-current={isCurrent ? "page" : undefined}
              className="inline-block wrap-anywhere rounded-full border border-line px-3 py-1 hover:bg-raised aria-[current=page]:border-accent aria-[current=page]:font-medium forced-colors:aria-[current=page]:underline"
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
