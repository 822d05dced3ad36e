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

  it.each([
    [
      "nightly-comparison",
      { unreached: [{ slot: "provider-a", problem: expect.stringContaining("unreachable") }] },
      "nightly comparison incomplete: a provider could not be asked, trying again",
    ],
    [
      "missed-events-sweep",
      { slot: "provider-a", problem: expect.stringContaining("/v1/events") },
      "sweep for missed events failed: trying again",
    ],
  ])(
    "warn, and count a run of %s as failed, when a provider cannot be asked",
    async (name, fields, message) => {
      context.stripe.interfere(async () => ({ status: 500 }));
      expect(await runOnce(name)).toEqual({ outcome: "failed", warnings: [[fields, message]] });
    },
  );

  it("warn, and count a sweep as failed, when the database is too slow for a missed event", async () => {
    context.stripe.events.push(context.eventOf("customer.subscription.created"));
    await context.test.rows(
      `create function too_slow() returns trigger language plpgsql as $$
       begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
    );
    await context.test.rows(
      "create trigger too_slow before insert on subscription for each row execute function too_slow()",
    );
    const problem =
      "the database is unavailable or too slow: 1 of 1 missed events could not be stored in time; the next run goes on with them";
    expect(await runOnce("missed-events-sweep")).toEqual({
      outcome: "failed",
      warnings: [[{ slot: "provider-a", problem }, "sweep for missed events failed: trying again"]],
    });
    await context.test.rows("drop trigger too_slow on subscription");
    expect(await runOnce("missed-events-sweep")).toMatchObject({ outcome: "ok" });
    expect(await context.stored()).toHaveLength(1);
  });

  async function runOnce(name: string) {
    const warnings: [object, string][] = [];
    const log = {
      ...context.runtime.log,
      info: () => {},
      warn: (...line: [object, string]) => warnings.push(line),
    };
    const jobs = jobsWith({ RECONCILE: "on" }, { ...context.runtime, log } as unknown as Runtime);
    const job = jobs.find((candidate) => candidate.name === name);
    if (job === undefined) throw new Error(`there is no ${name}`);
    return { outcome: await takeTurn(context.runtime, name, job.run), warnings };
  }
});
