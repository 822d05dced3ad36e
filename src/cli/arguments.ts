import { type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { invalidInput } from "../domain/refusals/invalid-input.ts";

export function jsonOption(): Option {
  return new Option("--json", "print one JSON value and nothing else");
}

/** `--limit` and `--cursor`, for every command that lists something. */
export function addPageOptions(command: Command, defaultLimit: number): Command {
  return command
    .addOption(
      new Option("--limit <n>", "how many at most, 1 to 1000")
        .default(defaultLimit)
        .argParser(wholeNumber(1, 1_000)),
    )
    .addOption(new Option("--cursor <cursor>", "continue a list: the cursor printed after its last page"));
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** A fraction from 0 to 1. */
export function share(text: string): number {
  const number = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("Expected a fraction from 0 to 1, e.g. 0.2.");
}

/** Applies the rule that the operation has for its input. */
export function parsedBy(schema: z.ZodType<string>): (text: string) => string {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    const { message } = invalidInput(parsed.error);
    throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  };
}
