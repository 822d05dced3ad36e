import { readFile } from "node:fs/promises";

/** @throws Error with one line for the operator */
export function readInputFile(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT"
        ? `${path} does not exist`
        : `${path} cannot be read: ${error.code ?? error.message}`,
    );
  });
}
