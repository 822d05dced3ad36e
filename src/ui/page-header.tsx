import { ArrowLeft } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";

/** The page's title and main action. */
export function PageHeader({
  title,
  description,
  action,
  back,
}: {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
  /** The page above this one. */
  back?: { href: string; label: string };
}) {
  return (
    <>
      {back && (
        <Link href={back.href} className="mb-2 inline-flex items-center gap-1 py-1 text-muted text-sm">
          <ArrowLeft aria-hidden="true" size={14} />
          {back.label}
        </Link>
      )}
      <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 wrap-anywhere">
          <h1 className="text-lg font-semibold">{title}</h1>
          {description && <p className="text-muted">{description}</p>}
        </div>
        {action}
      </header>
    </>
  );
}
