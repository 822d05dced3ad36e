import { readFile } from "node:fs/promises";

/** Without a byte order mark. @throws Error with one line for the operator */
export async function readInputFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT"
        ? `${path} does not exist`
        : `${path} cannot be read: ${error.code ?? error.message}`,
    );
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Spreadsheets save CSV in other encodings, too: names would lose their letters beyond ASCII.
    throw new Error(`${path} is not encoded in UTF-8`);
  }
}
