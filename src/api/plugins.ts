import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Person } from "../domain/callers/caller.ts";
import { errorText } from "../domain/error-text.ts";
import { HOOKS } from "../domain/outbound/subscription-hook.ts";
import { pluginFiles } from "../domain/plugin-files.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { addLimitHeaders } from "../http/limit-headers.ts";
import { readBodyOrRefuse } from "../http/read-body.ts";
import { type Call, charge, readInputOf } from "../operations/call.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { authenticate, authenticateLink, type CallerContext } from "./authenticate.ts";

/** Guaranteed to every plugin handler: the call is authenticated and charged. */
export type PluginEnv = HonoEnv & {
  Variables: { caller: Person; deps: Dependencies };
};

/** The shape that a file in `src/plugins/` exports. */
export type Plugin = {
  /** Lower-case letters, digits and dashes. The plugin is mounted at `/api/plugins/<name>`. */
  name: string;
  router: Hono<PluginEnv>;
  /** What is served at `/api/plugins/<name>/links/<secret>`, to programs that cannot send a header. */
  linkRouter?: Hono<PluginEnv>;
};

const FOLDER = join(import.meta.dirname, "../plugins");
const MAX_BODY_BYTES = 1024 * 1024;

/** Loads every plugin of the folder, by their files' names. @throws Error naming the file */
export async function loadPlugins(folder: string = FOLDER): Promise<Plugin[]> {
  const fileOf = new Map<string, string>();
  const plugins: Plugin[] = [];
  for (const file of pluginFiles(await readdir(folder, { withFileTypes: true }))) {
    const plugin = await load(folder, file);
    const otherFile = fileOf.get(plugin.name);
    if (otherFile !== undefined) throw problem(file, `"${plugin.name}" is also the name of ${otherFile}`);
    fileOf.set(plugin.name, file);
    plugins.push(plugin);
  }
  return plugins;
}

async function load(folder: string, file: string): Promise<Plugin> {
  const { name, router = null, linkRouter, ...others } = await importModule(folder, file);
  if (typeof name !== "string" || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    throw problem(file, 'export a const "name" of lower-case letters, digits and dashes');
  }
  if (router === null && HOOKS.some((hook) => hook in others)) return { name, router: new Hono() };
  if (!isRouter(router)) throw problem(file, 'export a const "router" that is a Hono app, or a hook');
  if (linkRouter === undefined) return { name, router };
  if (!isRouter(linkRouter)) throw problem(file, '"linkRouter" has to be a Hono app');
  return { name, router, linkRouter };
}

async function importModule(folder: string, file: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(join(folder, file)).href);
  } catch (error) {
    throw problem(file, errorText(error), error);
  }
}

/** Checked by shape: Hono has several presets, each with its own class. */
function isRouter(value: unknown): value is Plugin["router"] {
  if (typeof value !== "object" || value === null) return false;
  const { fetch, routes } = value as Partial<Plugin["router"]>;
  return typeof fetch === "function" && Array.isArray(routes);
}

function problem(file: string, message: string, cause?: unknown): Error {
  return new Error(`plugin ${file}: ${message}`, { cause });
}

/**
 * Mounts all plugins behind `requirePerson`. Links come first, behind `requireLinkSecret`; no other path
 * reaches a plugin.
 */
export function pluginRoutes(
  plugins: readonly Plugin[],
  deps: Dependencies,
  callers: CallerContext,
): Hono<PluginEnv> {
  const routes = new Hono<PluginEnv>();
  for (const { name, linkRouter } of plugins) {
    if (linkRouter === undefined) continue;
    routes.use(`/${name}/links/:secret/*`, requireLinkSecret(name, deps, callers));
    routes.route(`/${name}/links/:secret`, linkRouter);
  }
  routes.use(requirePerson(deps, callers));
  for (const { name, router } of plugins) routes.route(`/${name}`, router);
  return routes;
}

/**
 * Requires a session or API key, charges the `plugin` scope and reads the body before any plugin code runs.
 * @throws Refusal
 */
function requirePerson(deps: Dependencies, callers: CallerContext): MiddlewareHandler<PluginEnv> {
  return async (c, next) => {
    const call = await authenticate(c as Context, callers);
    await admit(c, { ...call, caller: personOf(call) }, deps);
    await readPluginInput(c, call);
    await next();
  };
}

/** @throws Refusal */
function personOf({ caller }: Call): Person {
  if (caller.kind === "anonymous" || caller.kind === "operator") refuse({ reason: "unauthorized" });
  if (caller.kind === "service") refuse({ reason: "forbidden" });
  return caller;
}

/** Requires a secret of this plugin in the path, charges its owner and reads the body. @throws Refusal */
function requireLinkSecret(
  plugin: string,
  deps: Dependencies,
  callers: CallerContext,
): MiddlewareHandler<PluginEnv> {
  return async (c, next) => {
    const secret = c.req.param("secret") ?? "";
    const call = await authenticateLink(c as Context, callers, { plugin, secret });
    await admit(c, call, deps);
    await readPluginInput(c, call);
    await next();
  };
}

/** @throws Refusal */
async function admit(
  c: Context<PluginEnv>,
  call: Call & { caller: Person },
  deps: Dependencies,
): Promise<void> {
  await charge("plugin", deps.limits, call);
  addLimitHeaders(c, call.charges);
  c.set("caller", call.caller);
  c.set("deps", deps);
}

/** Reads the body. A caller whose body arrives late is identified anew. @throws Refusal */
async function readPluginInput(c: Context<PluginEnv>, call: Call): Promise<void> {
  await readInputOf(call, () => readWholeBody(c));
  c.set("caller", personOf(call));
}

const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD", "TRACE"]);

/** Reads the body within our size limit, as a plugin would not check it. @throws Refusal */
async function readWholeBody(c: Context<PluginEnv>): Promise<void> {
  if (WITHOUT_BODY.has(c.req.method)) return;
  const { url, method, headers, signal } = c.req.raw;
  const body = await readBodyOrRefuse(c.env.incoming, MAX_BODY_BYTES);
  c.req.raw = new Request(url, { method, headers, signal, body: new Uint8Array(body) });
}
