import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { readConfig } from "../../../src/config/config.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { createLog } from "../../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../../src/server.ts";
import { startBrowser } from "../../support/browser.ts";
import { builtPages } from "../../support/built-pages.ts";
import { freePort } from "../../support/free-port.ts";
import { createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { describeInBrowser } from "./describe-in-browser.ts";

const test = testDatabase(0);
const shipped = plans.plans.slice(0, 3);
const catalog = definePlans([
  ...shipped,
  {
    ...(shipped.at(-1) as (typeof plans.plans)[number]),
    id: "studio",
    name: "Studio",
    priceIds: { "provider-a": "price_studio" },
    prices: [],
  },
]);

describeInBrowser("four plans", () => {
  let server: RunningServer;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    await builtPages();
    const port = await freePort();
    url = `http://localhost:${port}`;
    const config = readConfig({
      ...serverVariables(test.url),
      LOG_LEVEL: "silent",
      PROVIDER_B_API_KEY: "pdl_sdbx_apikey_of_nobody",
      PORT: `${port}`,
      APP_URL: url,
    });
    server = await startServer({ ...config, plans: catalog }, { log: createLog(config.logLevel) });
    browser = await startBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each([
    ["/", 1280, 2],
    ["/billing", 1280, 2],
    ["/billing", 390, 1],
  ])("are shown in rows of the same length: %s at %s pixels", async (path, width, perRow) => {
    const { cookie } = await createUser(test);
    const page = await browser.newPage({
      baseURL: url,
      viewport: { width, height: 800 },
      extraHTTPHeaders: { cookie },
    });
    await page.goto(path);
    const cards = page.getByRole("listitem").filter({ has: page.getByRole("heading", { level: 3 }) });
    const boxes = await Promise.all((await cards.all()).map((card) => card.boundingBox()));
    const rows = Object.values(Object.groupBy(boxes, (box) => String(box?.y)));
    expect(rows.map((row) => row?.length)).toEqual(Array.from({ length: 4 / perRow }, () => perRow));
    await page.close();
  });

  it("are offered to a subscriber as far as the provider that is paid sells them", async () => {
    const someone = await createUser(test);
    await createSubscription(test, someone.id, { provider: "provider-b", price_id: "pri_pro_monthly" });
    const page = await browser.newPage({ baseURL: url, extraHTTPHeaders: { cookie: someone.cookie } });
    page.setDefaultTimeout(60_000);
    await page.goto("/billing");
    const names = page.getByRole("listitem").getByRole("heading", { level: 3 });
    expect(await names.allInnerTexts()).toEqual(["Free", "Pro", "Team"]);
    await page.close();
  });
});
