import { execFileSync } from "node:child_process";
import { appendFile, mkdir } from "node:fs/promises";
import { resolve } from "node:path";

/** `script/proof` runs the tests of this folder at their full size, and keeps what they measured. */
export const isFullProof = process.env.PROOF === "full";

const FOLDER = resolve(import.meta.dirname, "../../docs/proofs");

/** Adds a line to the proof's report; a short run measures nothing worth keeping. */
export async function report(name: string, figures: Record<string, string | number>): Promise<void> {
  if (!isFullProof) return;
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const facts = Object.entries(figures).map(([figure, value]) => `${figure} ${value}`);
  await mkdir(FOLDER, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  await appendFile(resolve(FOLDER, `${name}.md`), `- ${date}, ${commit}: ${facts.join(", ")}\n`);
}
