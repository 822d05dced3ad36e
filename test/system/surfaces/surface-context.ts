import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import type { TestDatabase } from "../../support/database.ts";
import { openAiServer } from "../../support/openai-server.ts";
import { startTestServer, type TestServer } from "../../support/server.ts";
import { testDatabase } from "../../support/test-database.ts";
import type { Case } from "./cases/case.ts";
import { CASES } from "./cases/cases.ts";
import { LIMIT_VARIABLES, type LimitedScope, LimitTracker } from "./limit-tracker.ts";
import {
  countOne,
  increaseOf,
  METRICS_TOKEN,
  type OperationCounts,
  readOperationCounts,
} from "./operation-counts.ts";
import {
  type CallerName,
  type CallOutcome,
  type Input,
  isLetThrough,
  type Surface,
  type Verdict,
} from "./surface.ts";
import type { TestData } from "./test-data.ts";

export type OperationCall = {
  surface: Surface;
  testData: TestData;
  caller: CallerName;
  operation: string;
  input: Input;
};

/** One server with its own database, whose count of operations is checked after each test. */
export type SurfaceContext = {
  test: TestDatabase;
  url: string;
  limitTracker: LimitTracker;
  /** The expected metrics at the end of the test: operations by name and outcome. */
  expectedCounts: OperationCounts;
  /** Whether more operations may have run than were called. */
  showsMore: boolean;
  /** Calls the operation and expects this outcome, charged to its own scope and the surface's. */
  expectVerdict(operationCall: OperationCall, verdict: Verdict): Promise<CallOutcome>;
};

/** For the tests of one file. */
export function surfaceContext(): SurfaceContext {
  const on = { limitTracker: new LimitTracker(), test: testDatabase(0) } as SurfaceContext;
  on.expectVerdict = (operationCall, verdict) => expectVerdict(on, operationCall, verdict);
  let server: TestServer;
  let countsBefore: OperationCounts;
  let assistant: Awaited<ReturnType<typeof openAiServer>>;

  beforeAll(async () => {
    await builtPages();
    // Makes a numeric id identify its owner.
    await on.test.rows("alter table webhook_delivery alter column id restart with 1000000");
    assistant = await openAiServer();
    assistant.answer((exchange) => {
      exchange.say("Fine, ");
      exchange.say("thank you.");
      exchange.finish();
    });
    server = await startTestServer(on.test.url, {
      ...LIMIT_VARIABLES,
      METRICS_TOKEN,
      TRUSTED_PROXIES: "1",
      AI_BASE_URL: assistant.baseUrl,
      AI_MODEL: "model-1",
    });
    on.url = server.url;
  }, 180_000);
  afterAll(async () => {
    await server.close();
    await assistant.close();
  });
  beforeEach(async () => {
    on.expectedCounts = {};
    on.showsMore = false;
    countsBefore = await readOperationCounts(server.processUrls);
  });
  afterEach(async () => {
    // Each call has gone through the gate once, to the operation that it is called by, and no other has.
    const counted = Object.entries(increaseOf(countsBefore, await readOperationCounts(server.processUrls)));
    const called = counted.filter(
      ([name]) => name in on.expectedCounts || !(on.showsMore && isReading(name)),
    );
    expect(Object.fromEntries(called)).toEqual(on.expectedCounts);
  });
  return on;
}

function isReading(name: string): boolean {
  const [operation = "", outcome] = name.split(" ");
  if (outcome !== "ok") return false;
  // Only pages read these: the banner of every page, and two cards of the settings.
  if (["subscriptions.access", "calendar.showLink", "users.security"].includes(operation)) return true;
  return CASES[operation] !== undefined && !CASES[operation].writes;
}

async function expectVerdict(
  on: SurfaceContext,
  operationCall: OperationCall,
  verdict: Verdict,
): Promise<CallOutcome> {
  const { url, limitTracker, expectedCounts } = on;
  const { surface, testData, caller, operation, input } = operationCall;
  on.showsMore ||= surface.showsMore ?? false;
  const { scope } = CASES[operation] as Case;
  const isAsked = !surface.refusesInput(operation, input);
  const charged: LimitedScope[] = isAsked && isLetThrough(verdict) ? [scope] : [];
  if (surface.scope) charged.push(surface.scope);
  const remaining = limitTracker.charge(testData, caller, charged);
  if (isAsked) countOne(expectedCounts, `${surface.differs[operation]?.countedAs ?? operation} ${verdict}`);

  const outcome = await surface.call(url, operation, testData.callers[caller], input);
  const asking = { on: surface.name, by: caller, operation, input };
  expect({ ...asking, verdict: outcome.verdict, remaining: outcome.remaining }).toEqual({
    ...asking,
    verdict,
    remaining,
  });
  expect(outcome.lowest).toBe(charged.length === 0 ? null : Math.min(...Object.values(remaining)));
  return outcome;
}
