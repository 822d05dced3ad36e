"use client";

import { LoaderCircle } from "lucide-react";
import { useRouter } from "next/navigation";
import { type FormEvent, type ReactNode, useEffect, useRef, useTransition } from "react";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";

const DEBOUNCE_MS = 250;

/**
 * The filters of a list, stored in the page's URL. Applied while typing; without JavaScript, by the button.
 * @param values the values in the URL, by field name
 */
export function Filters({
  path,
  values,
  submit,
  wait,
  className,
  children,
}: {
  path: string;
  values: Readonly<Record<string, string>>;
  /** What the button says. */
  submit: string;
  /** Announced to screen readers while the page loads. */
  wait: string;
  className?: string;
  children: ReactNode;
}) {
  const { form, isPending, submitSoon, submitNow } = useLiveFilters(path, values);
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers as young as two years do not know the element "search".
    <form
      ref={form}
      role="search"
      method="get"
      action={path}
      onInput={submitSoon}
      onSubmit={submitNow}
      className={classes("relative flex flex-wrap items-start gap-x-4 gap-y-3", className)}
    >
      {children}
      <span className="mt-7 hidden noscript:block">
        <Button>{submit}</Button>
      </span>
      <span role="status" className="sr-only">
        {isPending && wait}
      </span>
      {isPending && (
        <LoaderCircle
          aria-hidden="true"
          size={16}
          className="absolute top-1 right-0 animate-spin text-muted"
        />
      )}
    </form>
  );
}

function useLiveFilters(path: string, values: Readonly<Record<string, string>>) {
  const router = useRouter();
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isPending, start] = useTransition();

  const follow = () => {
    timer.current = undefined;
    if (form.current) start(() => router.replace(addressOf(path, form.current), { scroll: false }));
  };
  const submitSoon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(follow, DEBOUNCE_MS);
  };
  const submitNow = (event: FormEvent) => {
    event.preventDefault();
    clearTimeout(timer.current);
    follow();
  };
  useEffect(() => () => clearTimeout(timer.current), []);

  // The URL also changes without the form: by the back button, and by the link that removes filters.
  const serialized = JSON.stringify(values);
  const hasSynced = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what happens to the URL matters.
  useEffect(() => {
    if (timer.current !== undefined || isPending) return;
    const inUrl = (field: FilterField) => (JSON.parse(serialized) as typeof values)[field.name] ?? "";
    const changed = fieldsOf(form.current).filter((field) => field.value !== inUrl(field));
    // Entered before the scripts had loaded.
    const wasEdited = !hasSynced.current && changed.length > 0 && !isRestored();
    hasSynced.current = true;
    if (wasEdited) return submitSoon();
    for (const field of changed) if (field !== document.activeElement) field.value = inUrl(field);
  }, [serialized, isPending]);

  return { form, isPending, submitSoon, submitNow };
}

/** Whether the browser may have filled in the fields with what they held before: the page was reloaded or come back to. */
function isRestored(): boolean {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation?.type !== "navigate";
}

function addressOf(path: string, form: HTMLFormElement | null): string {
  const filled = fieldsOf(form)
    // A day whose year is being typed, such as 0020, filters nothing yet.
    .filter((field) => field.validity.valid)
    .map((field) => [field.name, field.value.trim()] as [string, string])
    .filter(([, value]) => value !== "");
  return filled.length > 0 ? `${path}?${new URLSearchParams(filled)}` : path;
}

type FilterField = HTMLInputElement | HTMLSelectElement;

function fieldsOf(form: HTMLFormElement | null): FilterField[] {
  return [...(form?.elements ?? [])].filter(
    (control): control is FilterField =>
      (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) && control.name !== "",
  );
}
