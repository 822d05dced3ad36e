import { afterAll } from "vitest";

const cleanups = new Set<() => Promise<unknown>>();

/** Registers a clean-up that runs once: by the test itself, or after its file if the test failed before. */
export function cleanedUp<Result>(cleanup: () => Promise<Result>): () => Promise<Result> {
  const once = () => {
    cleanups.delete(once);
    return cleanup();
  };
  cleanups.add(once);
  return once;
}

/** Runs what is registered, the latest first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of [...cleanups].reverse()) await cleanup().catch(() => {});
}

// This is a set-up file of Vitest's: it applies to every test file.
for (const name of Object.keys(process.env))
  if (/^MALLOC_|^NODE_COMPILE_CACHE$/.test(name)) delete process.env[name];
afterAll(cleanUp);
