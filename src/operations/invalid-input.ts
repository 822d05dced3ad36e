import type { z } from "zod";

/** What is wrong with an input, in one readable sentence: the field, a colon, and the first problem found with it. */
export function sentenceOf(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return "invalid input";
  if (issue.code === "unrecognized_keys") return `${issue.keys[0]}: there is no such field`;
  const field = issue.path.map(String).join(".");
  return field === "" ? readable(issue.message) : `${field}: ${readable(issue.message)}`;
}

function readable(message: string): string {
  return message.replace(/^Invalid input: /, "").replace(/, received undefined$/, "");
}
