import { CommanderError } from "commander";
import { Refusal } from "../domain/refusal.ts";
import { printable } from "./table.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

/** What a command has to say in the end. */
export type Conclusion = {
  /** For programs. */
  json: unknown;
  /** For people. */
  text: () => string;
  /** One sentence, when what was asked for was tried and did not succeed. */
  failure?: string | null;
};

export function conclude({ json, text, failure }: Conclusion, output: { json?: boolean }): void {
  process.stdout.write(`${output.json ? JSON.stringify(json, null, 2) : text()}\n`);
  if (failure) fail(failure);
}

/** Says why nothing came of a command; with `json`, a program reads it in `error`. */
export function concludeFailure(error: unknown, output: { json: boolean }): void {
  if (error instanceof CommanderError) {
    // Commander has already said what it had to say.
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
    return;
  }
  const sentence = sentenceOf(error);
  if (output.json) process.stdout.write(`${JSON.stringify({ error: sentence }, null, 2)}\n`);
  fail(sentence);
}

function fail(sentence: string): void {
  const lines = sentence.split("\n").map((line) => printable(line, 2_000));
  process.stderr.write(`${lines.join("\n")}\n`);
  process.exitCode = FAILED;
}

function sentenceOf(error: unknown): string {
  if (error instanceof Refusal) return error.message.replace(/^[a-z][A-Za-z]*(?=: )/, optionOf);
  if (!(error instanceof Error)) return String(error);
  if (isUnreachable(error)) return `the database cannot be reached: ${causeOf(error)}`;
  return error.message || error.name;
}

/** The store's word for it, which does not come through the operations as a refusal. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.name === "DatabaseUnavailable";
}

/** A refusal that is about one field of the input begins with its name: here it goes by that of the option. */
function optionOf(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

// Several addresses tried at once fail with an error that has no message of its own.
function causeOf(error: Error): string {
  if (error.message) return error.message;
  const { code } = (error.cause ?? {}) as { code?: string };
  return code ?? "no answer";
}
