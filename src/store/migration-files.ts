import { readdir } from "node:fs/promises";

export const MIGRATIONS_FOLDER = new URL("./migrations/", import.meta.url);

const NUMBERED = /^\d{4}_.+\.sql$/;

/** In the order in which they are run. */
export async function migrationFiles(folder = MIGRATIONS_FOLDER): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NUMBERED.test(name)).sort();
}

/** A file under another name would never be run. @throws MigrationFailed */
export async function requireNames(folder: URL): Promise<void> {
  const misnamed = (await readdir(folder)).find((name) => name.endsWith(".sql") && !NUMBERED.test(name));
  if (misnamed === undefined) return;
  throw new MigrationFailed(
    `${pathOf(misnamed)}: its name must start with four digits and _, such as 9000_project.sql`,
  );
}

/** A file that cannot be run, named in the message; `cause`: PostgreSQL's error. */
class MigrationFailed extends Error {
  override name = "MigrationFailed";
}

/** PostgreSQL's error with the file and the line that it refuses; others as they are. */
export function migrationFailure(error: unknown, name: string, text: string): unknown {
  // Only PostgreSQL's errors have a severity.
  if (!(error instanceof Error && "severity" in error)) return error;
  const { message, position } = error as Error & { position?: string };
  const line = position === undefined ? "" : `, line ${text.slice(0, Number(position)).split("\n").length}`;
  return new MigrationFailed(`${pathOf(name)}${line}: ${message}`, { cause: error });
}

function pathOf(name: string): string {
  return `src/store/migrations/${name}`;
}
