import { expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { readConfig } from "../../../src/config/config.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { createLog } from "../../../src/observability/log.ts";
import { startServer } from "../../../src/server.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

import { serverVariables } from "../../support/variables.ts";
import { queryGraphql } from "./query-graphql.ts";

it("shows a price above the largest 32-bit number: 29,000,000 rupiah", async () => {
  const test = await freshDatabase(0);
  cleanedUp(() => test.drop());
  const price = { amount: 2_900_000_000, currency: "IDR", interval: "year" as const };
  const catalog = definePlans(plans.plans.map((plan) => (plan.id === "pro" ? { ...plan, price } : plan)));
  const config = readConfig({ ...serverVariables(test.url), LOG_LEVEL: "silent" });
  const server = await startServer({ ...config, plans: catalog }, { log: createLog(config.logLevel) });
  cleanedUp(() => server.close());
  const { body } = await queryGraphql(server.url, "{ plans { items { id price { amount currency } } } }");
  expect(body.errors).toBeUndefined();
  const expected = { id: "pro", price: { amount: price.amount, currency: "IDR" } };
  expect(body.data.plans.items).toContainEqual(expected);
});
