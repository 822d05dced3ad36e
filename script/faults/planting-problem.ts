import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "./fault.ts";

const PROJECT = join(import.meta.dirname, "../..");

/** Why the fault cannot be planted: the code has moved on, and the fault has to follow it. */
export function plantingProblem({ file, find, replace, tests, only }: Fault): string | null {
  const missing = [file, ...tests].find((path) => !existsSync(join(PROJECT, path)));
  if (missing) return `there is no ${missing}`;
  const textOf = (path: string) => readFileSync(join(PROJECT, path), "utf8");
  // A fault whose tests are all left out would seem to have survived.
  if (only !== undefined && !tests.some((path) => new RegExp(only).test(textOf(path))))
    return `no test is called "${only}"`;
  const places = textOf(file).split(find).length - 1;
  if (places !== 1) return `its text is there ${places} times instead of once`;
  return find === replace ? "it changes nothing" : null;
}
