import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FOLDERS = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
const POSTGRES_VERSIONS = "/usr/lib/postgresql";

/** The path of a program of the system; `null` when it is not installed. */
export function findProgram(name: string): string | null {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** The folder with the programs of the oldest installed PostgreSQL; `null` when there is none. */
export function findPostgresPrograms(): string | null {
  if (!existsSync(POSTGRES_VERSIONS)) return null;
  const versions = readdirSync(POSTGRES_VERSIONS)
    .map(Number)
    .sort((a, b) => a - b);
  const folders = versions.map((version) => join(POSTGRES_VERSIONS, String(version), "bin"));
  return folders.find((bin) => existsSync(join(bin, "postgres"))) ?? null;
}

/**
 * Runs tests that need programs of the system: by Debian package, where each is. Skipped without them, except
 * in CI and in a proof at full size.
 */
export function describeWith<Name extends string>(
  title: string,
  programs: Record<Name, string | null>,
  tests: (programs: Record<Name, string>) => void,
): void {
  const missing = Object.keys(programs).filter((name) => programs[name as Name] === null);
  if (missing.length === 0) {
    describe(title, () => tests(programs as Record<Name, string>));
    return;
  }
  it.skipIf(!process.env.CI && process.env.PROOF !== "full")(
    `${title} needs: apt-get install ${missing.join(" ")}`,
    () => expect(missing).toEqual([]),
  );
}
