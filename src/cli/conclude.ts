import { CommanderError } from "commander";
import { Refusal } from "../domain/refusal.ts";
import { printable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

const FAILED = 1;
const WRONG_USAGE = 2;
/** What was compared with its provider differs. */
export const DRIFT = 3;

/** The result of a command. */
export type Conclusion = {
  /** For programs. */
  json: unknown;
  /** For people. */
  text: () => string;
  /** One sentence, when the command ran and did not succeed. */
  failure?: string | null;
  /** When the command succeeded; 0 unless given. */
  exitCode?: number;
  /** Of a list: where its next page begins. */
  nextCursor?: string | null;
};

export function conclude(
  terminal: Terminal,
  { json, text, failure, exitCode, nextCursor }: Conclusion,
  output: { json?: boolean },
): void {
  terminal.stdout.write(`${output.json ? JSON.stringify(json, null, 2) : text()}\n`);
  // On stderr: with --json, stdout holds the list alone.
  if (nextCursor) terminal.stderr.write(`next page: --cursor ${nextCursor}\n`);
  if (failure) fail(terminal, failure);
  else if (exitCode) terminal.exitCode = exitCode;
}

/** Prints why a command failed; with `json`, as `{ "error": ... }` on stdout too. */
export function concludeFailure(terminal: Terminal, error: unknown, output: { json: boolean }): void {
  if (error instanceof CommanderError) {
    // Commander has already printed its message.
    terminal.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
    return;
  }
  const sentence = sentenceOf(error);
  if (output.json) terminal.stdout.write(`${JSON.stringify({ error: sentence }, null, 2)}\n`);
  fail(terminal, sentence);
}

function fail(terminal: Terminal, sentence: string): void {
  const lines = sentence.split("\n").map((line) => printable(line, 2_000));
  terminal.stderr.write(`${lines.join("\n")}\n`);
  terminal.exitCode = FAILED;
}

function sentenceOf(error: unknown): string {
  if (error instanceof Refusal) return error.sentence(error.field === null ? null : optionOf(error.field));
  if (!(error instanceof Error)) return String(error);
  if (isUnreachable(error)) return `the database cannot be reached: ${causeOf(error)}`;
  return error.message || error.name;
}

/** Thrown by the store, not as a refusal. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.name === "DatabaseUnavailable";
}

/** The option that a field of an operation's input is given by. */
function optionOf(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

// Several addresses tried at once fail with an error that has no message of its own.
function causeOf(error: Error): string {
  if (error.message) return error.message;
  const { code } = (error.cause ?? {}) as { code?: string };
  return code ?? "no response";
}
