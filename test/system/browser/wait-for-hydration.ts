import type { Locator } from "playwright-core";
import { eventually } from "../../support/eventually.ts";

/** Waits until the page's scripts have taken hold of it: buttons without a form do nothing before. */
export async function waitForHydration(locator: Locator): Promise<Locator> {
  const isHeld = () =>
    locator
      .first()
      .evaluate((element) => Object.keys(element).some((key) => key.startsWith("__reactProps$")));
  await eventually(isHeld, true);
  return locator;
}
