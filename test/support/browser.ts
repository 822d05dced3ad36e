import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { cleanedUp } from "./cleanup.ts";

const EXECUTABLE = "/usr/bin/chromium";

/** Why there are no tests in a browser here, or `null`. With CI=true a missing one is a failure. */
export function missingBrowser(): string | null {
  if (existsSync(EXECUTABLE) || process.env.CI === "true") return null;
  return "install Chromium, e.g. sudo apt-get install chromium";
}

/** A real Chromium without a window. */
export async function startBrowser(): Promise<Browser> {
  // As root, Chromium's own sandbox does not start.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args });
  cleanedUp(() => browser.close());
  return browser;
}
