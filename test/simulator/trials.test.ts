import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { readConfig } from "../../src/config/config.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import { createLog } from "../../src/observability/log.ts";
import { createPaymentApi } from "../../src/providers/create-payment-api.ts";
import { traitsOf, wireFormats } from "../../src/providers/registry.ts";
import { startServer } from "../../src/server.ts";
import { eventually } from "../support/eventually.ts";
import { sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";
import { API_KEY, press, simulator } from "./test-context.ts";
import "../fixtures/fifth-provider.ts";

const TRIAL_DAYS = 9;
const catalog = definePlans(
  plans.plans.map((plan) => (plan.id === "pro" ? { ...plan, trialDays: TRIAL_DAYS } : plan)),
);

const test = testDatabase(0);

const formats = wireFormats().filter((format) => traitsOf(format).checkout.takesTrialDays);

it.each(formats)(
  "a person's first subscription starts with the plan's trial in the format %s",
  async (format) => {
    let serverUrl = "";
    const sim = await simulator({
      formats: { "provider-a": format },
      deliverTo: (slot) => `${serverUrl}/api/webhooks/${slot}`,
      timeScale: 100,
      catalog,
    });
    const apiUrl = `${sim.url}/provider-a`;
    const config = readConfig({
      ...serverVariables(test.url),
      LOG_LEVEL: "silent",
      PROVIDER_A_ADAPTER: format,
      PROVIDER_A_API_KEY: API_KEY,
      PROVIDER_A_API_URL: apiUrl,
      SELF_HEAL: "on",
    });
    const server = await startServer({ ...config, plans: catalog }, { log: createLog(config.logLevel) });
    serverUrl = server.url;
    const api = createPaymentApi({ slot: "provider-a", format, apiKey: API_KEY, apiUrl });
    const person = await createUser(test);
    const statuses = async () => {
      const rows = await test.rows<{ status: string }>(
        "select status from subscription where user_id = $1 order by created_at, id",
        [person.id],
      );
      return rows.map(({ status }) => status);
    };
    const buy = async () => {
      const response = await sendRequest(server.url, "POST", "/api/checkout", {
        body: { planId: "pro" },
        cookie: person.cookie,
      });
      expect(response.status, JSON.stringify(response.body)).toBe(200);
      const { url } = response.body as { url: string };
      const page = await (await fetch(url)).text();
      const paid = await press(url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
      expect(paid.status).toBeLessThan(400);
      return page;
    };

    expect(await buy()).toContain(`${TRIAL_DAYS} days free`);
    await eventually(statuses, ["trialing"]);
    const [first] = sim.subscriptions("provider-a");
    await sim.passTime((TRIAL_DAYS + 1) * 86_400);
    await eventually(statuses, ["active"]);

    await api.cancelSubscription(first?.providerSubscriptionId ?? "");
    await sim.settle();
    await eventually(statuses, ["canceled"]);
    expect(await buy()).not.toContain("days free</dd>");
    await eventually(statuses, ["canceled", "active"]);
    await sim.close();
    await server.close();
  },
);
