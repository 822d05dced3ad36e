import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
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

/** Runs the command line as a process of its own, in an environment that holds these variables and no others. */
export function tollgateIn(variables: Record<string, string>): Tollgate {
  const run = async (...args: string[]): Promise<Run> => {
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
  };
  return Object.assign(run, {
    json: async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout),
  });
}
