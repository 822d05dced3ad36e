import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

// Counts the licences of installed packages, and fails on one that is not allowed.
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC-BY-4.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "OFL-1.1",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);
/**
 * Linked to at run time and not changed, as the LGPL has it: the pictures library that Next.js brings along,
 * and is not used.
 */
const LINKED = new Set(["LGPL-3.0-or-later"]);

type Locked = { license?: string; dev?: boolean; optional?: boolean; link?: boolean };

const root = resolve(import.meta.dirname, "..");
const lock = JSON.parse(await readFile(resolve(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, Locked>;
};

const counts = new Map<string, number>();
const refused: string[] = [];
for (const [path, locked] of Object.entries(lock.packages)) {
  if (path === "" || locked.dev || locked.link) continue;
  const licence = locked.license ?? (await declared(path));
  counts.set(licence, (counts.get(licence) ?? 0) + 1);
  if (!isAllowed(licence)) refused.push(`${path.replace(/^.*node_modules\//, "")}: ${licence}`);
}
for (const [licence, count] of [...counts].sort((a, b) => b[1] - a[1])) {
  process.stdout.write(`${String(count).padStart(5)}  ${licence}\n`);
}
if (refused.length > 0) {
  process.stderr.write(`not allowed:\n  ${refused.join("\n  ")}\n`);
  process.exit(1);
}

/** Of a package whose lock entry names none; one of another platform is not installed. */
async function declared(path: string): Promise<string> {
  const text = await readFile(resolve(root, path, "package.json"), "utf8").catch(() => "{}");
  const { license } = JSON.parse(text) as { license?: string | { type: string } };
  return typeof license === "object" ? license.type : (license ?? "unknown");
}

/**
 * An SPDX expression: of several licences to choose from one is enough, of several that apply together all
 * are needed.
 */
function isAllowed(expression: string): boolean {
  return expression
    .replace(/[()]/g, "")
    .split(/ OR /)
    .some((choice) => choice.split(/ AND /).every((licence) => ALLOWED.has(licence) || LINKED.has(licence)));
}
