import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** Whether a server has created its embedded database in this folder. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(resolve(dataDir, "postgres", "cluster"));
}
