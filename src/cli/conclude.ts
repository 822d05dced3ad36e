import { type Command, CommanderError } from "commander";
import { errorText } from "../domain/error-text.ts";
import { escapeControls } from "../domain/escape-controls.ts";
import { Refusal } from "../domain/refusals/refusal.ts";
import { printable } from "./output/table.ts";
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
  if (output.json) writeJson(terminal, json);
  else terminal.stdout.write(`${text()}\n`);
  // On stderr: with --json, stdout holds the list alone.
  if (nextCursor) terminal.stderr.write(`next page: --cursor ${nextCursor}\n`);
  if (failure) fail(terminal, failure);
  else if (exitCode) terminal.exitCode = exitCode;
}

/**
 * Prints why a command failed; with `json`, as `{ "error": ... }` on stdout too.
 * @param command the one that ran; `null`: none was reached
 */
export function concludeFailure(
  terminal: Terminal,
  error: unknown,
  { json, command }: { json: boolean; command: Command | null },
): void {
  if (error instanceof CommanderError) {
    // Commander has already printed its message, or the help or version that was asked for.
    if (error.exitCode === 0) return;
    if (json) writeJson(terminal, { error: usageSentence(error) });
    terminal.exitCode = WRONG_USAGE;
    return;
  }
  const sentence = sentenceOf(error, command);
  if (json) writeJson(terminal, { error: sentence });
  fail(terminal, sentence);
  // What was typed is refused whatever the state of the server.
  if (error instanceof Refusal && error.code === "invalid_input") terminal.exitCode = WRONG_USAGE;
}

function writeJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${escapeControls(JSON.stringify(value, null, 2))}\n`);
}

/** On one line, without the word that Commander puts in front. */
function usageSentence({ message }: CommanderError): string {
  return message.replace(/^error: /, "").replace(/\s+/g, " ");
}

function fail(terminal: Terminal, sentence: string): void {
  const lines = sentence.split("\n").map((line) => printable(line, 2_000));
  terminal.stderr.write(`${lines.join("\n")}\n`);
  terminal.exitCode = FAILED;
}

function sentenceOf(error: unknown, command: Command | null): string {
  if (error instanceof Refusal)
    return error.sentence(error.field === null ? null : typedName(error.field, command));
  if (isUnreachable(error)) return `the database cannot be reached: ${error.message}`;
  return errorText(error);
}

/** Thrown by the store, not as a refusal. */
export function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && error.name === "DatabaseUnavailable";
}

/** Fields of operations whose option or argument has another name. */
const TYPED_NAMES: Readonly<Record<string, string>> = { expiresAt: "expires", deliveryIds: "deliveries" };

/** What a field of an operation's input is typed as, such as `--expires`; an argument has no dashes. */
function typedName(field: string, command: Command | null): string {
  // A list is typed as one text: `types.0` is in `--types`.
  const [part = field] = field.split(".");
  const name = TYPED_NAMES[part] ?? part;
  if (command?.registeredArguments.some((argument) => argument.name() === name)) return name;
  const option = command?.options.find((candidate) => candidate.attributeName() === name);
  return option?.long ?? `--${name}`;
}
