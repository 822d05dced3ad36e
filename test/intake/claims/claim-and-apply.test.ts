import { expect, it } from "vitest";
import type { AttemptOutcome, Claimed } from "../../../src/intake/claimed-event.ts";
import { claimAndApply } from "../../../src/intake/claims/claim-and-apply.ts";
import { findApplied } from "../../../src/intake/find-applied.ts";
import type { IncomingEvent } from "../../../src/intake/incoming-event.ts";
import type { Intake } from "../../../src/intake/intake.ts";
import { createRecentKeys } from "../../../src/intake/queue/recent-keys.ts";
import type { Database } from "../../../src/store/database.ts";

const EVENT = { key: "provider-a evt_1", delivery: { payload: Buffer.from("{}") } } as IncomingEvent;
const CLAIM = { claim: { id: "7" } } as Claimed & object;

/** What becomes of the event, whether it is remembered as applied, and how often it was claimed. */
async function outcomeOf(claimed: Claimed, attempt: AttemptOutcome) {
  const recent = createRecentKeys(10);
  let claims = 0;
  const intake = {
    recent,
    claims: {
      submit: async () => {
        claims += 1;
        return claimed;
      },
    },
    attempts: { submit: async () => attempt },
  } as unknown as Intake;
  return { ...(await claimAndApply(intake, EVENT)), isRemembered: recent.has(EVENT.key), claims };
}

const FAILED: AttemptOutcome = { outcome: "failed", failure: { reason: "defect" } };
const APPLIED: AttemptOutcome = { outcome: "applied" };

it.each<[AttemptOutcome, object]>([
  [APPLIED, { outcome: "applied", isRemembered: true }],
  [{ outcome: "ignored" }, { outcome: "ignored", isRemembered: true }],
  [FAILED, { outcome: "failed", deliveryId: "7", isRemembered: false }],
  [{ outcome: "unavailable" }, { outcome: "unavailable", isRemembered: false }],
  // Whoever has taken it over may not have applied it yet.
  [{ outcome: "lost" }, { outcome: "unavailable", isRemembered: false }],
])("answers a claimed event by its attempt, and remembers what was applied: %j", async (attempt, answer) => {
  expect(await outcomeOf(CLAIM, attempt)).toEqual({ ...answer, claims: 1 });
});

it.each<[Claimed, string, number]>([
  ["duplicate", "duplicate", 1],
  ["unavailable", "unavailable", 1],
  ["again", "unavailable", 3],
])(
  "applies nothing without a claim, and acknowledges only a duplicate: %s",
  async (claimed, outcome, claims) => {
    expect(await outcomeOf(claimed, APPLIED)).toEqual({ outcome, isRemembered: false, claims });
  },
);

it("leaves it to the claim whether an event is a repeat when looking it up fails", async () => {
  const database = { connection: () => Promise.reject(new TypeError("defect")) } as unknown as Database;
  const log = { warn() {}, error() {} };
  expect(await findApplied({ database, log, leaseSeconds: 30 } as unknown as Intake, [EVENT])).toEqual([
    null,
  ]);
});
