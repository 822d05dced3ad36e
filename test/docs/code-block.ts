import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join, resolve } from "node:path";

export const PROJECT = resolve(import.meta.dirname, "../..");

/** A block of code in the documentation. */
export type CodeBlock = {
  page: string;
  line: number;
  /** What follows the fence: `sh`, `ts plan` ...; empty for one without a language, or without a fence. */
  language: string;
  code: string;
};

/** The pages whose code has to work: decisions show what was tried. */
export const PAGES = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "clients/typescript/README.md"],
  ...(await Array.fromAsync(glob("docs/**/*.md", { cwd: PROJECT })))
    .filter((page) => !page.startsWith("docs/decisions/"))
    .sort(),
];

/** Every block of a page, those that are merely indented included. */
export function codeBlocksOf(page: string, text = readFileSync(join(PROJECT, page), "utf8")): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: (CodeBlock & { fence: string }) | null = null;
  let previous = "";
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (open !== null) {
      if (fence?.[1]?.startsWith(open.fence) && fence[2]?.trim() === "") {
        const { fence: _, ...block } = open;
        blocks.push(block);
        open = null;
      } else open.code += `${line}\n`;
    } else if (fence?.[1] !== undefined) {
      open = { page, line: index + 1, language: (fence[2] ?? "").trim(), code: "", fence: fence[1] };
    } else if (/^( {4}|\t)/.test(line) && previous.trim() === "") {
      blocks.push({ page, line: index + 1, language: "", code: `${line.trim()}\n` });
    }
    previous = line;
  }
  if (open !== null) blocks.push({ ...open, language: "" });
  return blocks;
}
