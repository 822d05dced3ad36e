import { InvalidArgumentError, Option } from "commander";
import type { z } from "zod";

/** For commands of every kind. */
export function jsonOption(): Option {
  return new Option("--json", "print one JSON value and nothing else");
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}.`);
  };
}

/** A share of the whole, 0 to 1. */
export function share(text: string): number {
  const number = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("expected a share from 0 to 1, e.g. 0.2.");
}

/** Text that an operation's input would take. */
export function accepted(schema: z.ZodType<string>): (text: string) => string {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues.map((issue) => issue.message).join("; "));
  };
}
