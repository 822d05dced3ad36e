import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Operation } from "../../../src/operations/operation.ts";

const FOLDER = resolve(import.meta.dirname, "../../../src/operations");

/** Every operation that some file below `src/operations` exports. */
export async function discoverOperations(): Promise<Operation<never>[]> {
  const files = (await readdir(FOLDER, { recursive: true })).filter((name) => name.endsWith(".ts")).sort();
  const found: Operation<never>[] = [];
  for (const file of files) {
    const exported = await import(pathToFileURL(join(FOLDER, file)).href);
    found.push(...Object.values(exported).filter(isOperation));
  }
  return found;
}

function isOperation(value: unknown): value is Operation<never> {
  if (typeof value !== "object" || value === null) return false;
  return ["name", "access", "limit", "input", "output", "run"].every((name) => name in value);
}
