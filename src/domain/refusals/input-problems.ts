import { z } from "zod";

const min = z.number();
const max = z.number();

/** Input problems that the schema alone detects; the field is named beside it. */
export const InputProblem = z.discriminatedUnion("problem", [
  z.object({ problem: z.literal("missing") }),
  z.object({ problem: z.literal("unknown_field") }),
  z.object({ problem: z.literal("wrong_type"), expected: z.string() }),
  z.object({ problem: z.literal("empty") }),
  z.object({ problem: z.literal("too_short"), min }),
  z.object({ problem: z.literal("too_long"), max }),
  z.object({ problem: z.literal("length_out_of_range"), min, max }),
  z.object({ problem: z.literal("too_small"), min }),
  z.object({ problem: z.literal("too_large"), max }),
  z.object({ problem: z.literal("too_few"), min }),
  z.object({ problem: z.literal("too_many"), max }),
  z.object({ problem: z.literal("not_one_of"), values: z.array(z.string()) }),
  z.object({ problem: z.literal("malformed"), format: z.string() }),
  z.object({ problem: z.literal("control_characters") }),
  z.object({ problem: z.literal("repeated") }),
  z.object({ problem: z.literal("excludes"), other: z.string() }),
  z.object({ problem: z.literal("belongs_in_path") }),
  z.object({ problem: z.literal("nothing_to_change") }),
  z.object({ problem: z.literal("unreadable_body"), expected: z.string() }),
  z.object({ problem: z.literal("invalid") }),
]);

export type InputProblem = z.output<typeof InputProblem>;

/** The sentence behind "field: ", or by itself. */
export function problemSentence(problem: InputProblem): string {
  switch (problem.problem) {
    case "missing":
      return "is required";
    case "unknown_field":
      return "unknown field";
    case "wrong_type":
      return `expected ${problem.expected}`;
    case "empty":
      return "must not be empty";
    case "too_short":
      return `expected at least ${problem.min} characters`;
    case "too_long":
      return `expected at most ${problem.max} characters`;
    case "length_out_of_range":
      return `expected ${problem.min} to ${problem.max} characters`;
    case "too_small":
      return `expected at least ${problem.min}`;
    case "too_large":
      return `expected at most ${problem.max}`;
    case "too_few":
      return `expected at least ${problem.min} entries`;
    case "too_many":
      return `expected at most ${problem.max} entries`;
    case "not_one_of":
      return `expected ${problem.values.length > 1 ? "one of " : ""}${problem.values.join(", ")}`;
    case "malformed":
      return `expected ${FORMATS[problem.format as Format] ?? problem.format}`;
    case "control_characters":
      return "must not contain control characters";
    case "repeated":
      return "given more than once";
    case "excludes":
      return `cannot be given together with ${problem.other}`;
    case "belongs_in_path":
      return "belongs in the path";
    case "nothing_to_change":
      return "expected at least one field to change";
    case "unreadable_body":
      return `expected ${problem.expected}`;
    case "invalid":
      return "is not valid";
    default:
      return problem satisfies never;
  }
}

/** Descriptions of formats for developers, by the name that zod or our schemas use. */
export const FORMATS = {
  email: "an email address",
  url: "a URL",
  uuid: "an id such as 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11",
  datetime: "a time such as 2030-01-31T00:00:00Z",
  number_id: "an id such as 42",
  cursor: "the nextCursor of the previous page",
  event_id: "the id of an event, or the nextCursor of the previous response",
  url_encoding: "a URL whose escapes such as %C3%A9 are UTF-8",
  trimmed: "text without white space at its beginning or end",
  printable_ascii: "ASCII letters, digits and punctuation",
  currency: "an ISO 4217 code such as EUR",
  limit: "requests/seconds for at most a day, e.g. 600/60",
  id_prefix: "a letter, then up to 99 letters, digits or . _ -, e.g. user_",
  reset_token: "the token from the email",
  totp_code: "6 digits",
  recovery_code: "a backup code",
} as const;

type Format = keyof typeof FORMATS;
