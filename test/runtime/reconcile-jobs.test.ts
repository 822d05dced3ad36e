import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { reconcileJobs } from "../../src/runtime/reconcile-jobs.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { stripeContext, takeTurn } from "../support/stripe-context.ts";
import { serverVariables } from "../support/variables.ts";

const context = stripeContext();

function jobsWith(variables: Record<string, string>, runtime: Runtime = context.runtime) {
  return reconcileJobs(readConfig({ ...serverVariables(context.test.url), ...variables }), runtime);
}

describe("the jobs that correct subscriptions", () => {
  it.each([
    [{ SELF_HEAL: "on", RECONCILE: "on" }, ["nightly-comparison", "missed-events-sweep", "self-heal"]],
    [{ SELF_HEAL: "off", RECONCILE: "on" }, ["nightly-comparison", "missed-events-sweep"]],
    [{ SELF_HEAL: "on", RECONCILE: "off" }, ["self-heal"]],
    [{ SELF_HEAL: "off", RECONCILE: "off" }, []],
  ])("are with %j %j", (variables, names) => {
    expect(jobsWith(variables).map(({ name }) => name)).toEqual(names);
  });

  it("do not run without a provider", () => {
    const payments = { "provider-a": null, "provider-b": null, "provider-c": null };
    expect(jobsWith({ SELF_HEAL: "on", RECONCILE: "on" }, { ...context.runtime, payments })).toEqual([]);
  });

  it("sweep every RECONCILE_EVERY_SECONDS", () => {
    const jobs = jobsWith({ RECONCILE: "on", RECONCILE_EVERY_SECONDS: "7" });
    expect(jobs.find(({ name }) => name === "missed-events-sweep")).toMatchObject({ everyMs: 7_000 });
  });

  it("warn of a nightly comparison that could not reach a provider", async () => {
    const warnings: [object, string][] = [];
    const log = {
      ...context.runtime.log,
      info: () => {},
      warn: (...line: [object, string]) => warnings.push(line),
    };
    const [nightly] = jobsWith({ RECONCILE: "on" }, { ...context.runtime, log } as unknown as Runtime);
    if (nightly === undefined) throw new Error("there is no nightly comparison");
    context.stripe.interfere(async () => ({ status: 500 }));
    await takeTurn(context.runtime, nightly.name, nightly.run);
    expect(warnings).toEqual([
      [
        { unreached: [{ slot: "provider-a", problem: expect.stringContaining("unreachable") }] },
        "nightly comparison incomplete: a provider could not be asked, trying again",
      ],
    ]);
  });
});
