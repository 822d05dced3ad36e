import { describe } from "vitest";
import { missingBrowser } from "../../support/browser.ts";

/** Tests that need a browser: skipped without one, saying what to install. */
export function describeInBrowser(title: string, tests: () => void): void {
  const missing = missingBrowser();
  describe.skipIf(missing !== null)(missing === null ? title : `${title}: ${missing}`, tests);
}
