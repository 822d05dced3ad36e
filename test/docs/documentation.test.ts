import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/tollgate.ts";
import { LEMON_SQUEEZY_EVENT_TYPES } from "../../src/providers/lemon-squeezy/webhook.ts";
import { PADDLE_EVENT_TYPES } from "../../src/providers/paddle/webhook.ts";
import { POLAR_EVENT_TYPES } from "../../src/providers/polar/webhook.ts";
import { STRIPE_EVENT_TYPES } from "../../src/providers/stripe/webhook.ts";
import { FAULT_KINDS } from "../../src/simulator/server/state.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "llms.txt"],
  ...(await Array.fromAsync(glob("docs/**/*.md", { cwd: PROJECT }))).sort(),
];
const textOf = (page: string) => readFileSync(join(PROJECT, page), "utf8");

/** Paths in links that stay within the project, from its root. */
function linksOf(page: string): string[] {
  const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
  return targets
    .filter((target) => !/^(https?:|mailto:|#)/.test(target))
    .map((target) => relative(PROJECT, resolve(PROJECT, dirname(page), target.split("#")[0] as string)));
}

const sourceFiles = await Array.fromAsync(glob("src/**/*.ts", { cwd: PROJECT }));
const source = sourceFiles.map(textOf).join("\n");

describe("documentation", () => {
  it.each(pages)("has no dead link: %s", (page) => {
    expect(linksOf(page).filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
  });

  it.each(pages)("names only tests that exist: %s", (page) => {
    const paths = [...textOf(page).matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path as string);
    expect(
      paths.filter(
        (path) => !existsSync(join(PROJECT, path)) && !existsSync(join(PROJECT, `${path}.test.ts`)),
      ),
    ).toEqual([]);
  });

  it.each(pages)("names only files that exist: %s", (page) => {
    const paths = [...textOf(page).matchAll(/`((?:src|script|clients|deploy|bench)\/[\w./()[\]-]+)`/g)].map(
      ([, path]) => path as string,
    );
    // A block's file is the reader's to write.
    const written = new Set([...textOf(page).matchAll(/^```\w+ (src\/.*)$/gm)].map(([, path]) => path));
    expect(paths.filter((path) => !existsSync(join(PROJECT, path)) && !written.has(path))).toEqual([]);
  });

  it.each(pages)("names only commands that exist: %s", (page) => {
    const commands = new Set(commandPaths(createProgram(process)));
    const shownCommands = [...textOf(page).matchAll(/npm run -s tollgate -- ([a-z]+(?: [a-z]+)?)/g)].map(
      ([, words]) => words as string,
    );
    const unknownCommands = shownCommands.filter(
      (words) => !commands.has(words) && !commands.has(words.split(" ")[0] as string),
    );
    expect(unknownCommands).toEqual([]);
  });

  it.each(pages)("quotes only lines of the log that exist: %s", (page) => {
    const quotes = [...textOf(page).matchAll(/\blogs?(?:\s+line)?(?::\s+|\s+says\s+|\s+)"([^"]+)"/g)];
    const parts = quotes.flatMap(([, line = ""]) =>
      line.replaceAll(/\s+/g, " ").split(/\.\.\.|\d+ |PROVIDER_A_WEBHOOK_SECRET/),
    );
    const texts = parts.map((part) => part.replace(/[,:\s]+$/, "")).filter((part) => part.trim() !== "");
    expect(texts.filter((part) => !source.includes(part))).toEqual([]);
  });

  it("lists every folder of src in CONTRIBUTING.md", () => {
    const folders = readdirSync(join(PROJECT, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const contributing = textOf("CONTRIBUTING.md");
    expect(folders.filter((folder) => !contributing.includes(`| \`src/${folder}\` |`))).toEqual([]);
  });

  it("is linked from its index, page by page", () => {
    const reached = new Set<string>();
    const follow = (page: string) => {
      if (reached.has(page) || !existsSync(join(PROJECT, page))) return;
      reached.add(page);
      if (page.endsWith(".md") && statSync(join(PROJECT, page)).isFile()) linksOf(page).forEach(follow);
    };
    follow("docs/README.md");
    // Linked as folders: a page each would be a list to keep up to date.
    const lists = /^docs\/(decisions|proofs)\//;
    expect(
      pages.filter((page) => page.startsWith("docs/") && !lists.test(page) && !reached.has(page)),
    ).toEqual([]);
  });

  it("has every guide and reference in llms.txt", () => {
    const listed = linksOf("llms.txt");
    const guides = pages.filter((page) => /^docs\/(how-to|providers|reference)\//.test(page));
    expect([...guides, "clients/typescript/README.md"].filter((page) => !listed.includes(page))).toEqual([]);
  });

  it.each([
    ["stripe", STRIPE_EVENT_TYPES],
    ["paddle", PADDLE_EVENT_TYPES],
    ["polar", POLAR_EVENT_TYPES.filter((type) => !STRIPE_EVENT_TYPES.includes(type))],
    ["lemon-squeezy", LEMON_SQUEEZY_EVENT_TYPES.filter((type) => !STRIPE_EVENT_TYPES.includes(type))],
  ])("names every event with effects in the guide to %s", (provider, eventTypes) => {
    const guide = textOf(`docs/providers/${provider}.md`);
    expect(eventTypes.filter((type) => !guide.includes(`\`${type}\``))).toEqual([]);
  });

  it("names every fault of the simulated provider in the guide to testing", () => {
    const guide = textOf("docs/how-to/test-your-billing.md");
    expect(FAULT_KINDS.filter((kind) => !guide.includes(`\`${kind}\``))).toEqual([]);
  });

  it("keeps the README short", () => {
    expect(textOf("README.md").split("\n").length).toBeLessThan(150);
  });
});

type Command = { name(): string; commands: readonly Command[] };

/** `webhooks`, `webhooks list` ... */
function commandPaths(program: Command): string[] {
  return program.commands.flatMap((command) => [
    command.name(),
    ...command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
  ]);
}
