import { expect, it } from "vitest";
import { SLOTS } from "../../../src/domain/slot.ts";
import { repeatRefusals } from "../../simulator/repeat-refusals.ts";
import { press } from "../../simulator/test-context.ts";
import { builtPages } from "../../support/built-pages.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { callAction, encodeArguments, findServerAction } from "../../support/server-action.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

it.each(SLOTS)("sells a subscription through %s when it is the active provider", async (slot) => {
  await builtPages();
  const test = await freshDatabase(0);
  cleanedUp(test.drop);
  const folder = await temporaryFolder();
  const server = await startTestServer(test.url, {
    ...GENEROUS_LIMITS,
    SIMULATOR: "on",
    SIMULATOR_PORT: "0",
    DATA_DIR: folder,
    ACTIVE_PROVIDER: slot,
    // On a busy machine the server refuses some events at first, and they arrive out of order.
    SELF_HEAL: "on",
  });
  cleanedUp(server.close);
  repeatRefusals(server.simulatorUrl as string);
  const person = await createUser(test);

  const overRest = await sendRequest(server.url, "POST", "/api/checkout", {
    cookie: person.cookie,
    body: { planId: "pro", seats: 2 },
  });
  expect(overRest.body.url).toMatch(new RegExp(`^${server.simulatorUrl}/${slot}/`));

  const form = encodeArguments([{ planId: "pro", seats: "2" }]);
  const { redirect } = await callAction(server.url, findServerAction("createCheckout"), form, person);
  expect(redirect).toMatch(new RegExp(`^${server.simulatorUrl}/${slot}/`));
  await press(redirect as string, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });

  const subscriptions = async () => {
    const { body } = await sendRequest(server.url, "GET", "/api/subscriptions", person);
    return body.subscriptions.map((subscription: Record<string, unknown>) => [
      subscription.provider,
      subscription.planId,
      subscription.seats,
      subscription.status,
    ]);
  };
  await eventually(subscriptions, [[slot, "pro", 2, "active"]]);
});
