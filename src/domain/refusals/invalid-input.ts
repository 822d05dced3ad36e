import type { z } from "zod";
import { FORMATS, type InputProblem } from "./input-problems.ts";
import { Refusal } from "./refusal.ts";

/** The first validation error as a refusal that names the field. */
export function invalidInput(error: z.ZodError): Refusal {
  const issue = firstIssue(error.issues);
  if (!issue) return new Refusal({ reason: "invalid_input", params: { problem: "invalid" } });
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") path.push(issue.keys[0] ?? "");
  const field = path.length === 0 ? null : path.join(".");
  return new Refusal({ reason: "invalid_input", params: problemOf(issue), field });
}

/** Of a number that is too large to be exact, zod says so before it names the schema's own bound. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [first] = issues;
  if (first?.code !== "too_big" && first?.code !== "too_small") return first;
  const path = first.path.map(String).join(".");
  return issues.findLast(
    ({ code, path: other }) => code === first.code && other.map(String).join(".") === path,
  );
}

/** For schemas with their own rules: the problem that their `refine` reports. */
export function problem(params: InputProblem): { params: InputProblem; error: string } {
  return { params, error: params.problem };
}

/** For schemas with their own formats: puts the format's name where zod expects a message. */
export function format(name: keyof typeof FORMATS | "control_characters"): string {
  return name;
}

function problemOf(issue: z.core.$ZodIssue): InputProblem {
  switch (issue.code) {
    case "invalid_type":
      return issue.message === MISSING
        ? { problem: "missing" }
        : { problem: "wrong_type", expected: TYPES[issue.expected] ?? issue.expected };
    case "too_small":
      return tooSmall(issue.origin, Number(issue.minimum));
    case "too_big":
      return tooBig(issue.origin, Number(issue.maximum));
    case "invalid_union":
      // Of a field that tells variants apart, zod lists the variants.
      return "options" in issue && issue.options ? notOneOf(issue.options) : { problem: "invalid" };
    case "invalid_value":
      return notOneOf(issue.values);
    case "invalid_format":
      return issue.message === "control_characters"
        ? { problem: "control_characters" }
        : { problem: "malformed", format: issue.message in FORMATS ? issue.message : issue.format };
    case "unrecognized_keys":
      return { problem: "unknown_field" };
    case "custom":
      return (issue.params as InputProblem | undefined) ?? { problem: "invalid" };
    default:
      return { problem: "invalid" };
  }
}

function notOneOf(values: readonly unknown[]): InputProblem {
  return { problem: "not_one_of", values: values.map(String) };
}

const MISSING = "missing";

/**
 * Passed to zod with each parse: messages are made from the problem, so zod only reports whether a value was
 * missing.
 */
export const whetherMissing: z.core.$ZodErrorMap = (issue) =>
  issue.code === "invalid_type" && issue.input === undefined ? MISSING : undefined;

const TYPES: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  record: "an object",
};

function tooSmall(origin: string, min: number): InputProblem {
  if (origin === "string") return min === 1 ? { problem: "empty" } : { problem: "too_short", min };
  if (origin === "array" || origin === "set")
    return min === 1 ? { problem: "empty" } : { problem: "too_few", min };
  return { problem: "too_small", min };
}

function tooBig(origin: string, max: number): InputProblem {
  if (origin === "string") return { problem: "too_long", max };
  return origin === "array" || origin === "set"
    ? { problem: "too_many", max }
    : { problem: "too_large", max };
}
