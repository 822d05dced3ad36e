import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";

const FOLDER = new URL("../../test-results/", import.meta.url);

type Run = {
  startedAt: Date;
  options: { parts: ReadonlySet<string>; databaseUrl?: string | null };
  measured: object;
};

/** Writes everything that a bench has measured to a file for programs, and returns its path. */
export async function writeResults(bench: string, { startedAt, options, measured }: Run): Promise<string> {
  const file = new URL(`bench-${bench}.json`, FOLDER);
  await mkdir(FOLDER, { recursive: true });
  const everything = {
    startedAt: startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    options: {
      ...options,
      parts: [...options.parts],
      databaseUrl: options.databaseUrl ? "given" : "embedded",
    },
    machine: {
      processors: cpus().length,
      model: cpus()[0]?.model ?? "unknown",
      memoryBytes: totalmem(),
      system: `${process.platform} ${release()}`,
      node: process.version,
    },
    ...measured,
  };
  await writeFile(file, `${JSON.stringify(everything, null, 2)}\n`);
  return file.pathname;
}
