import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import type { AtRest } from "./at-rest.ts";
import type { Duplicates } from "./duplicates.ts";
import type { Figure } from "./figures.ts";
import type { History } from "./history.ts";
import type { Offered } from "./offered.ts";
import type { Options } from "./options.ts";
import type { SideBySide } from "./side-by-side.ts";

/** All that a run has measured; `null` for the parts that were left out. */
export type Results = {
  sideBySide: SideBySide | null;
  history: History | null;
  duplicates: Duplicates | null;
  offered: Offered | null;
  atRest: AtRest | null;
};

const FOLDER = new URL("../test-results/", import.meta.url);

/** Writes everything to a file for programs, and returns its path. */
export async function saveResults(
  results: Results,
  run: { startedAt: Date; options: Options; settings: Record<string, string>; figures: readonly Figure[] },
): Promise<string> {
  const file = new URL("bench-intake.json", FOLDER);
  await mkdir(FOLDER, { recursive: true });
  const everything = {
    startedAt: run.startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    options: {
      ...run.options,
      parts: [...run.options.parts],
      databaseUrl: run.options.databaseUrl ? "given" : "embedded",
    },
    machine: {
      processors: cpus().length,
      model: cpus()[0]?.model ?? "unknown",
      memoryBytes: totalmem(),
      system: `${process.platform} ${release()}`,
      node: process.version,
    },
    postgres: run.settings,
    figures: run.figures,
    ...results,
  };
  await writeFile(file, `${JSON.stringify(everything, null, 2)}\n`);
  return file.pathname;
}
