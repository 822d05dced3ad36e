import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { cleanedUp } from "./cleanup.ts";

const EXECUTABLES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const LAUNCHER = new URL("./chromium.sh", import.meta.url).pathname;
const executable = EXECUTABLES.find((path) => existsSync(path));

/** Why there are no tests in a browser here, or `null`. With CI=true a missing one is a failure. */
export function missingBrowser(): string | null {
  if (executable !== undefined || process.env.CI === "true") return null;
  return "install Chromium, e.g. sudo apt-get install chromium or brew install --cask chromium";
}

/** A real Chromium without a window. */
export async function startBrowser(): Promise<Browser> {
  // Imitating a graphics card in a process of its own takes a tenth of the time. As root, the sandbox does not start.
  const args = ["--disable-gpu", "--in-process-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  const env = { ...process.env, CHROMIUM: executable ?? "/usr/bin/chromium" };
  const launch = () => chromium.launch({ executablePath: LAUNCHER, args, env });
  // Chromium 156 itself ends with a segmentation fault now and then as it starts.
  const browser = await launch().catch(launch);
  cleanedUp(() => browser.close());
  return browser;
}
