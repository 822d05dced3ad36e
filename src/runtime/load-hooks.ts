import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorText } from "../domain/error-text.ts";
import { HOOKS, type SubscriptionHooks } from "../domain/outbound/subscription-hook.ts";
import { pluginFiles } from "../domain/plugin-files.ts";

const FOLDER = join(import.meta.dirname, "../plugins");

/**
 * Loads the plugins that name a hook; the command line, which changes subscriptions too, is spared the
 * others.
 * @throws Error naming the file
 */
export async function loadHooks(folder: string = FOLDER): Promise<SubscriptionHooks[]> {
  const plugins: SubscriptionHooks[] = [];
  for (const file of pluginFiles(await readdir(folder, { withFileTypes: true }))) {
    const source = await readFile(join(folder, file), "utf8");
    if (HOOKS.some((hook) => source.includes(hook))) plugins.push(await load(folder, file));
  }
  return plugins;
}

async function load(folder: string, file: string): Promise<SubscriptionHooks> {
  let exported: Record<string, unknown>;
  try {
    exported = await import(pathToFileURL(join(folder, file)).href);
  } catch (error) {
    throw new Error(`plugin ${file}: ${errorText(error)}`, { cause: error });
  }
  const { name } = exported;
  if (typeof name !== "string") throw new Error(`plugin ${file}: export a const "name"`);
  const hooks: SubscriptionHooks = { name };
  for (const hook of HOOKS) {
    const exportedHook = exported[hook];
    if (exportedHook === undefined) continue;
    if (typeof exportedHook !== "function") throw new Error(`plugin ${file}: "${hook}" must be a function`);
    hooks[hook] = exportedHook as (...parameters: unknown[]) => unknown;
  }
  return hooks;
}
