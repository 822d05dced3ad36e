import { beforeEach, expect, it } from "vitest";
import {
  findSweepCursor,
  finishSweep,
  type SweepOutcome,
} from "../../../src/store/deliveries/event-sweeps.ts";
import { acquireLease, type Lease } from "../../../src/store/leases.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
let lease: Lease;
beforeEach(async () => {
  await test.rows("truncate event_sweep, lease");
  lease = (await acquireLease(test.database, "sweep", { seconds: 60 })) as Lease;
});

const EARLIER = Date.UTC(2026, 0, 1);
const LATER = Date.UTC(2026, 0, 2);

const finish = (slot: "provider-a" | "provider-b", outcome: Partial<SweepOutcome>, by = lease) =>
  finishSweep(
    test.database,
    slot,
    { sweptUntilMs: null, problem: null, isEndpointDisabled: null, ...outcome },
    by,
  );

const cursor = async (slot: "provider-a" | "provider-b") => {
  const { sweptUntilMs, wasEndpointDisabled } = await findSweepCursor(test.database, slot);
  return { sweptUntilMs, wasEndpointDisabled };
};

const NONE = { sweptUntilMs: null, wasEndpointDisabled: false };

it("keeps a position for each slot", async () => {
  await finish("provider-a", { sweptUntilMs: EARLIER, isEndpointDisabled: true });
  expect(await cursor("provider-b")).toEqual(NONE);
  await finish("provider-b", { sweptUntilMs: LATER, isEndpointDisabled: false });
  expect(await cursor("provider-a")).toEqual({ sweptUntilMs: EARLIER, wasEndpointDisabled: true });
  expect(await cursor("provider-b")).toEqual({ sweptUntilMs: LATER, wasEndpointDisabled: false });
});

it("stays where it is after a failure", async () => {
  await finish("provider-a", { problem: "no answer" });
  expect(await cursor("provider-a")).toEqual(NONE);
  await finish("provider-a", { sweptUntilMs: EARLIER, isEndpointDisabled: true });
  await finish("provider-a", { problem: "no answer" });
  expect(await cursor("provider-a")).toEqual({ sweptUntilMs: EARLIER, wasEndpointDisabled: true });
  expect(await test.rows("select last_problem from event_sweep")).toEqual([{ last_problem: "no answer" }]);
  await finish("provider-a", { sweptUntilMs: LATER, isEndpointDisabled: false });
  expect(await cursor("provider-a")).toEqual({ sweptUntilMs: LATER, wasEndpointDisabled: false });
  expect(await test.rows("select last_problem from event_sweep")).toEqual([{ last_problem: null }]);
});

it("is moved by the holder of the lease only", async () => {
  await finish("provider-a", { sweptUntilMs: EARLIER });
  await test.rows("update lease set token = gen_random_uuid()");
  await finish("provider-a", { sweptUntilMs: LATER });
  await finish("provider-b", { sweptUntilMs: LATER });
  expect([await cursor("provider-a"), await cursor("provider-b")]).toEqual([
    { sweptUntilMs: EARLIER, wasEndpointDisabled: false },
    NONE,
  ]);
});
