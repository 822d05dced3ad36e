import type { Command } from "commander";
import { createProgram } from "../../src/cli/tollgate.ts";
import { code } from "./table.ts";

const WIDTH = 100;

/** The help of every command, as `--help` prints it. */
export function commandSections(): string {
  let printed = "";
  const stream = { write: (text: string) => (printed += text) };
  const terminal = { stdout: stream, stderr: stream } as unknown as Parameters<typeof createProgram>[0];
  return leaves(createProgram(terminal), [])
    .map(({ command, path }) => {
      printed = "";
      command.configureHelp({ helpWidth: WIDTH });
      command.outputHelp();
      return `### ${code(path.join(" "))}\n\n\`\`\`text\n${printed.trim()}\n\`\`\``;
    })
    .join("\n\n");
}

function leaves(command: Command, path: readonly string[]): { command: Command; path: readonly string[] }[] {
  if (command.commands.length === 0) return [{ command, path }];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}
