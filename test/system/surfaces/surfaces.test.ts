import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { TOO_MANY_REQUESTS } from "../../../src/domain/refusals/reasons.ts";
import type { Operation } from "../../../src/operations/operation.ts";
import { queryGraphql, refusals } from "../../api/graphql/query-graphql.ts";
import { type Belongings, belongingsOf, masked } from "./belongings.ts";
import { type Ask, type Case, inputOf, personOf } from "./cases/case.ts";
import { CASES } from "./cases/cases.ts";
import { ANYONE } from "./cases/who.ts";
import { LIMITS } from "./limit-tracker.ts";
import { countOne } from "./operation-counts.ts";
import {
  CALLERS,
  type CallerName,
  type CallOutcome,
  isLetThrough,
  limitsIn,
  mayOn,
  offers,
  type Surface,
  type Verdict,
} from "./surface.ts";
import { type OperationCall, surfaceContext } from "./surface-context.ts";
import { SURFACES } from "./surfaces.ts";
import { createTestData } from "./test-data.ts";

/** Not callable by themselves, but part of other operations' responses: see the end. */
const NESTED = [
  "subscriptions.listOfUsers",
  // On pages only: other clients use the routes below /api/auth.
  "sessions.list",
  "sessions.revoke",
  "sessions.revokeOthers",
  "users.security",
  // A stream by its own protocol: see test/api/chat-resume.test.ts.
  "chat.resume",
  "calendar.showLink",
  "calendar.createLink",
  "calendar.revokeLink",
  // For pages alone, which show the reason; programs read entitlements.
  "subscriptions.access",
  // For the page that waits for a payment.
  "billing.checkout",
];

/** For service keys alone: see `service-keys.test.ts`. */
const FOR_SERVICE_KEYS = ["users.putExternal", "usage.record", "events.list", "events.stream"];

/** RPC's own form of another operation, under whose name it is compared with the other surfaces. */
const VARIANTS = ["users.rename", "users.listAll", "notifications.markOneOrAllRead"];

const context = surfaceContext();

const surfacesOf = (operation: string) => SURFACES.filter((surface) => offers(surface, operation));
const caseOf = (operation: string) => CASES[operation] as Case;

describe("the operations", () => {
  it("are all listed here, and available on a surface", async () => {
    const operations = await discoverOperations();
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
    // Operations for the operator are run by the command line only.
    const names = operations.filter(({ access }) => access !== "operator").map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [...Object.keys(CASES), ...NESTED, ...VARIANTS, ...FOR_SERVICE_KEYS].toSorted(),
    );
    expect(Object.keys(CASES).filter((operation) => surfacesOf(operation).length === 0)).toEqual([]);
  });

  it.each(SURFACES.map((surface) => [surface.name, surface] as const))(
    "that %s offers are all listed here",
    (_, { entrances, leadsTo }) => {
      expect(Object.keys(leadsTo).toSorted()).toEqual(entrances.toSorted());
      const covered = [...Object.keys(CASES), ...FOR_SERVICE_KEYS];
      expect(
        Object.values(leadsTo)
          .flat()
          .filter((operation) => !covered.includes(operation)),
      ).toEqual([]);
    },
  );
});

describe.each(Object.entries(CASES))("%s", (operation, { may, writes, asks, scope }) => {
  it("has the same outcome and cost on every surface", async () => {
    for (const ask of asks) {
      const surfaces = surfacesOf(operation).filter(({ name }) => !ask.notOn?.includes(name));
      // Reads return identical data; writes run on their own users each time.
      const shared = writes && !ask.refused ? null : await createTestData(context.test);
      let untouched: Belongings | null = null;
      for (const caller of CALLERS) {
        const outcomes: ObservedOutcome[] = [];
        for (const surface of surfaces) {
          const testData = shared ?? (await createTestData(context.test));
          const question = { surface, testData, caller, operation, input: inputOf(ask, testData, caller) };
          const verdict = verdictOn(question, ask);
          const before: Belongings = untouched ?? (await belongingsOf(context.test, testData));
          const { output, message, reason } = await context.expectVerdict(question, verdict);
          const after = await belongingsOf(context.test, testData);

          if (shared) untouched = after;
          if (verdict !== "ok" || !writes) expect(after).toEqual(before);
          else if (ask.leaves) expect(after).toMatchObject(ask.leaves(testData, personOf(caller)));
          if (surface.refusesInput(operation, question.input)) continue;
          if (mayOn(surface, operation, may)[caller] !== may[caller]) continue;
          outcomes.push(
            shared
              ? { surface, verdict, message, reason, output, left: after }
              : {
                  surface,
                  verdict,
                  message,
                  reason,
                  output: masked(output, testData),
                  left: masked(after, testData),
                },
          );
        }
        expectEqualOutcomes(operation, outcomes);
      }
    }
  });

  it("is refused on all surfaces once its limit is used up", async () => {
    const surfaces = surfacesOf(operation);
    const spenders = (["nobody", "owner", "admin"] as const)
      .filter((caller) => surfaces.every((surface) => isLetThrough(mayOn(surface, operation, may)[caller])))
      .slice(0, may === ANYONE ? 2 : 1);
    expect(spenders).not.toEqual([]);
    for (const spender of spenders) {
      for (const first of surfaces) {
        const testData = await createTestData(context.test);
        const ask = cheapest(first, operation);
        const spending = { surface: first, testData, operation, input: inputOf(ask, testData, spender) };
        for (let n = 0; n < LIMITS[scope]; n += 1) {
          const question = { ...spending, caller: spender };
          await context.expectVerdict(question, verdictOn(question, ask));
        }

        const before = await belongingsOf(context.test, testData);
        for (const surface of surfaces) {
          for (const caller of [spender, ...KEY_OF[spender]]) {
            if (!isLetThrough(mayOn(surface, operation, may)[caller])) continue;
            const question = {
              surface,
              testData,
              caller,
              operation,
              input: inputOf(asks[0], testData, caller),
            };
            const refused = await context.expectVerdict(question, "rate_limited");
            expect([surface.name, refused.message]).toEqual([surface.name, TOO_MANY_REQUESTS]);
            expect(refused.retryAfterSeconds).toBeGreaterThan(3_600 - 60);
            expect(refused.retryAfterSeconds).toBeLessThanOrEqual(3_600);
          }
        }
        expect(await belongingsOf(context.test, testData)).toEqual(before);
        const question = { ...spending, caller: ANOTHER[spender] };
        await context.expectVerdict(question, verdictOn(question, ask));
      }
    }
  });
});

const KEY_OF = { nobody: [], owner: ["key"], admin: ["adminKey"] } as const;
const ANOTHER = { nobody: "owner", owner: "other", admin: "owner" } as const;

/** The expected outcome of the call. */
function verdictOn(
  { surface, caller, operation, input }: Omit<OperationCall, "testData">,
  { refused }: Ask,
): Verdict {
  if (surface.refusesInput(operation, input)) return "invalid_input";
  const verdict = mayOn(surface, operation, caseOf(operation).may)[caller];
  return refused && isLetThrough(verdict) ? refused : verdict;
}

/** A call that uses up a limit without changing anything, on surfaces that can express it. */
function cheapest(surface: Surface, operation: string): Ask {
  const { asks } = caseOf(operation);
  const isAccepted = ({ input, notOn }: Ask) =>
    !notOn?.includes(surface.name) && typeof input === "object" && !surface.refusesInput(operation, input);
  return asks.find((ask) => ask.refused === "invalid_input" && isAccepted(ask)) ?? asks[0];
}

type ObservedOutcome = Pick<CallOutcome, "verdict" | "message" | "reason" | "output"> & {
  surface: Surface;
  left: unknown;
};

/** One call on several surfaces must have the same response and the same effects. */
function expectEqualOutcomes(operation: string, outcomes: readonly ObservedOutcome[]): void {
  const complete = outcomes.find(({ surface }) => !surface.differs[operation]?.shows) ?? outcomes[0];
  const shownReason = outcomes.find((outcome) => outcome.reason !== null)?.reason ?? null;
  for (const { surface, verdict, ...observed } of outcomes) {
    const { shows = same, says = same } = surface.differs[operation] ?? {};
    const isRefused = complete?.message != null;
    const message = isRefused ? says(complete.message as string, verdict, shownReason) : null;
    const reason = surface.hidesReasons ? null : shownReason;
    const output = isRefused ? null : shows(complete?.output);
    expect({ on: surface.name, ...observed }).toEqual({
      on: surface.name,
      message,
      reason,
      output,
      left: complete?.left,
    });
  }
}

function same<Value>(value: Value): Value {
  return value;
}

type Page = { items: { id: string }[]; nextCursor: string | null };

const idsOf = (items: Page["items"]) => items.map(({ id }) => id);

it.each(Object.keys(CASES).filter((operation) => operation.endsWith(".list")))(
  "continues a page of %s on any other surface by its cursor",
  async (operation) => {
    const testData = await createTestData(context.test);
    const surfaces = surfacesOf(operation);
    const caller = operation === "users.list" || caseOf(operation).may.owner !== "ok" ? "admin" : "owner";
    const page = async (surface: Surface, input: { limit: number; cursor?: string | null }) =>
      (await context.expectVerdict({ surface, testData, caller, operation, input }, "ok")).output as Page;
    for (const [n, surface] of surfaces.entries()) {
      const { items, nextCursor } = await page(surface, { limit: 1 });
      expect([items.length, nextCursor]).toEqual([1, expect.any(String)]);
      const next = surfaces[(n + 1) % surfaces.length] as Surface;
      const { items: more } = await page(next, { limit: 1, cursor: nextCursor });
      expect(idsOf([...items, ...more])).toEqual(idsOf((await page(next, { limit: 2 })).items));
    }
  },
);

describe.each(SURFACES.flatMap((surface) => (surface.scope ? [[surface.scope, surface] as const] : [])))(
  "the limit of the surface: %s",
  (scope, surface) => {
    const ownScopes = ["api", "settings", "billing"] as const;
    const spent = ownScopes.map((own) => {
      const isOfScope = ([name, testCase]: [string, Case]) => testCase.scope === own && offers(surface, name);
      return Object.entries(CASES).find(isOfScope)?.[0] as string;
    });

    it("is shared by all operations, and a refused call is not charged to the operation's own limit", async () => {
      const testData = await createTestData(context.test);
      const asking = (operation: string, caller: CallerName) => {
        const [ask] = caseOf(operation).asks;
        return { testData, caller, operation, input: inputOf(ask, testData, caller) };
      };
      const served = async (by: Surface, operation: string) => {
        const question = { ...asking(operation, "owner"), surface: by };
        await context.expectVerdict(question, verdictOn(question, caseOf(operation).asks[0]));
      };
      for (let n = 0; n < LIMITS[scope]; n += 1) await served(surface, spent[n % spent.length] as string);
      for (const caller of ["owner", "key"] as const) {
        for (const operation of spent) {
          const { input } = asking(operation, caller);
          const refused = await surface.call(context.url, operation, testData.callers[caller], input);
          expect(refused).toMatchObject({ verdict: "rate_limited", message: TOO_MANY_REQUESTS, lowest: 0 });
          expect(refused.remaining).toEqual({ [scope]: 0 });
          expect(refused.retryAfterSeconds).toBeGreaterThan(3_600 - 60);
        }
      }
      // The other surfaces still serve, and share the operations' own counts.
      for (const otherSurface of SURFACES.filter((candidate) => candidate !== surface)) {
        for (const operation of spent.filter((name) => offers(otherSurface, name)))
          await served(otherSurface, operation);
      }
    });
  },
);

describe("subscriptions.listOfUsers, below users in GraphQL", () => {
  const document = "{ me { id subscriptions { id } } }";
  const mine = (role: "owner" | "key" | "nobody", testData: Awaited<ReturnType<typeof createTestData>>) =>
    queryGraphql(context.url, document, testData.callers[role]);

  it("returns the caller's own, for one more charge", async () => {
    const testData = await createTestData(context.test);
    const listed = await context.expectVerdict(
      {
        surface: SURFACES[0] as Surface,
        testData,
        caller: "owner",
        operation: "subscriptions.list",
        input: {},
      },
      "ok",
    );
    const ids = (listed.output as Page).items.map((item) => ({ id: (item as { id: string }).id }));
    for (const [who, n] of [
      ["owner", 1],
      ["key", 2],
    ] as const) {
      const answer = await mine(who, testData);
      expect(answer.body).toEqual({ data: { me: { id: testData.people.owner.id, subscriptions: ids } } });
      expect(limitsIn(answer).remaining).toEqual({
        graphql: LIMITS.graphql - n,
        api: LIMITS.api - 1 - 2 * n,
      });
      countOne(context.expectedCounts, "users.me ok");
      countOne(context.expectedCounts, "subscriptions.listOfUsers ok");
    }
    expect(refusals(await mine("nobody", testData))).toEqual({ me: "UNAUTHENTICATED" });
    countOne(context.expectedCounts, "users.me unauthorized");
  });

  it("is refused over the limit without affecting other fields", async () => {
    const testData = await createTestData(context.test);
    const surface = SURFACES[0] as Surface;
    for (let n = 0; n < LIMITS.api - 1; n += 1) {
      await context.expectVerdict(
        { surface, testData, caller: "owner", operation: "users.me", input: {} },
        "ok",
      );
    }
    const answer = await mine("owner", testData);
    expect(answer.body.data).toEqual({ me: { id: testData.people.owner.id, subscriptions: null } });
    expect(refusals(answer)).toEqual({ "me.subscriptions": "RATE_LIMITED" });
    expect(limitsIn(answer)).toMatchObject({ lowest: 0, retryAfterSeconds: expect.any(Number) });
    countOne(context.expectedCounts, "users.me ok");
    countOne(context.expectedCounts, "subscriptions.listOfUsers rate_limited");
  });
});

const FOLDER = resolve(import.meta.dirname, "../../../src/operations");

/** Every operation that some file below `src/operations` exports. */
async function discoverOperations(): Promise<Operation<never>[]> {
  const files = (await readdir(FOLDER, { recursive: true })).filter((name) => name.endsWith(".ts")).sort();
  const operations: Operation<never>[] = [];
  for (const file of files) {
    const exported = await import(pathToFileURL(join(FOLDER, file)).href);
    operations.push(...Object.values(exported).filter(isOperation));
  }
  return operations;
}

function isOperation(value: unknown): value is Operation<never> {
  if (typeof value !== "object" || value === null) return false;
  return ["name", "access", "limit", "input", "output", "run"].every((name) => name in value);
}
