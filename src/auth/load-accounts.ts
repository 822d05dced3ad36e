import { registerHooks } from "node:module";

/**
 * Loads Better Auth with Drizzle as CommonJS: for each of Drizzle's hundred ES modules Node parses its 180 KB
 * `package.json` again, which takes three times as long and 100 MB more.
 */
export async function loadAccounts(): Promise<typeof import("./accounts.ts")> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      /^drizzle-orm(\/|$)/.test(specifier)
        ? next(specifier, { ...context, conditions: ["require", "node"] })
        : next(specifier, context),
  });
  try {
    return await import("./accounts.ts");
  } finally {
    hooks.deregister();
  }
}
