import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommand } from "../../src/cli/tollgate.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";

type Run = { code: number | null; stdout: string; stderr: string };

/** The `tollgate` command, bound to one environment. */
export type Tollgate = {
  (...args: string[]): Promise<Run>;
  /** With `--json`: what it printed, parsed; fails unless that is one JSON value. */
  // biome-ignore lint/suspicious/noExplicitAny: what it is, is what the tests are about.
  json(...args: string[]): Promise<any>;
};

export const ENTRY = new URL("../../src/cli/tollgate.ts", import.meta.url).pathname;

/** Runs commands in an environment that holds these variables and no others. */
export function tollgateIn(variables: Record<string, string>): Tollgate {
  return withJson(async (...args) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const printed = Promise.all([text(stdout), text(stderr)]);
    const terminal = { env: variables, stdout, stderr, exitCode: 0 };
    await runCommand(args, terminal);
    stdout.end();
    stderr.end();
    const [out, err] = await printed;
    return { code: terminal.exitCode, stdout: out, stderr: err };
  });
}

/** The same with a process for each command, as an operator starts it: ten times slower. */
export function tollgateProcessIn(variables: Record<string, string>): Tollgate {
  return withJson(async (...args) => {
    const child = spawn(process.execPath, [ENTRY, ...args], {
      env: { ...PROCESS_VARIABLES, ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, stdout, stderr };
  });
}

function withJson(run: (...args: string[]) => Promise<Run>): Tollgate {
  return Object.assign(run, {
    json: async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout),
  });
}
