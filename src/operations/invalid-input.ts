import type { z } from "zod";

/** What is wrong with an input, in one readable sentence: the field, a colon, and the first problem found with it. */
export function sentenceOf(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return "invalid input";
  const field = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return `${[...(field === "" ? [] : [field]), issue.keys[0]].join(".")}: there is no such field`;
  }
  return field === "" ? issue.message : `${field}: ${issue.message}`;
}

const KINDS: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  record: "an object",
};

/** Zod's own messages speak to programmers; those that a schema brings along win over these. */
export const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case "too_small":
      return sizeInWords("at least", Number(issue.minimum), issue.origin);
    case "too_big":
      return sizeInWords("at most", Number(issue.maximum), issue.origin);
    case "invalid_value":
      return `expected ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
    case "invalid_format":
      return `is not a valid ${issue.format}`;
    default:
      return undefined;
  }
};

function sizeInWords(bound: string, size: number, origin: string): string {
  if (origin === "string") return `expected ${bound} ${size} ${size === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set")
    return `expected ${bound} ${size} ${size === 1 ? "entry" : "entries"}`;
  return `expected ${bound} ${size}`;
}
