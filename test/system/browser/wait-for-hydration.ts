import type { Locator } from "playwright-core";
import { eventually } from "../../support/eventually.ts";

/** Waits until React has hydrated the page: buttons without a form do nothing before. */
export async function waitForHydration(locator: Locator): Promise<Locator> {
  const isHydrated = () =>
    locator
      .first()
      .evaluate((element) => Object.keys(element).some((key) => key.startsWith("__reactProps$")));
  await eventually(isHydrated, true);
  return locator;
}
