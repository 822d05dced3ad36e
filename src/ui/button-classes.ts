import { classes } from "./classes.ts";

export type ButtonVariant = "primary" | "secondary" | "danger" | "ghost";

const VARIANTS: Record<ButtonVariant, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  secondary: "bg-surface text-ink border-line-strong hover:bg-raised",
  danger: "bg-surface text-bad border-bad hover:bg-raised",
  ghost: "bg-transparent text-ink border-transparent hover:bg-raised",
};

const BUTTON =
  "inline-flex min-h-9 items-center justify-center gap-2 rounded-box border px-3 py-1.5 font-medium no-underline transition-colors duration-100 aria-disabled:cursor-default aria-disabled:opacity-60";

/** Button classes for client components too, where the link component would add much code. */
export function buttonClasses(variant: ButtonVariant, className?: string): string {
  return classes(BUTTON, VARIANTS[variant], className);
}
