import plans from "../../plans.config.ts";
import { createApi } from "../../src/api/app.ts";
import { documentedAuthRoutes } from "../../src/auth/routes/routes.ts";
import { perSlot } from "../../src/domain/slot.ts";
import type { Intake } from "../../src/intake/intake.ts";
import type { Log } from "../../src/observability/log.ts";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { traitsOf } from "../../src/providers/registry.ts";
import versions from "../../versions.config.ts";
import { testCallers, testLimits } from "../support/guarded-app.ts";

export type LogEntry = { fields: Record<string, unknown>; message: string };

/** The whole API with the test's callers, see `testCallers`; accounts and webhooks are stubs. */
export function testApi(deps: Partial<Dependencies> = {}): {
  app: ReturnType<typeof createApi>;
  noted: LogEntry[];
} {
  const noted: LogEntry[] = [];
  const note = (fields: LogEntry["fields"], message: string) => void noted.push({ fields, message });
  const app = createApi({
    webhooks: {
      intake: { receive: notAtHome },
      maxBodyBytes: 1024,
      secretVariables: { "provider-a": "A", "provider-b": "B", "provider-c": "C" },
      observe: null,
      log: { info: note, warn: note, error: note } as unknown as Log,
    },
    callers: testCallers,
    auth: { scopeOf: () => null, handle: notAtHome, documentedRoutes: documentedAuthRoutes },
    deps: {
      database: { run: notAtHome } as unknown as Dependencies["database"],
      intake: {} as Intake,
      limits: testLimits(),
      observe: null,
      plans,
      traits: perSlot(() => traitsOf("stripe")),
      newApiKey: () => notAtHome(),
      newServiceKey: () => notAtHome(),
      newLinkSecret: () => notAtHome(),
      findEntitlementFacts: () => notAtHome(),
      chat: null,
      payments: { "provider-a": null, "provider-b": null, "provider-c": null },
      activeProvider: "provider-a",
      appUrl: "https://app.example.com",
      returnOrigins: ["https://app.example.com"],
      log: { error: note },
      cancelSubscription: null,
      holdCheckout: null,
      outboundAllow: outboundAllow({ hosts: [], ranges: [] }),
      eventFeed: { after: notAtHome, isPolling: () => false, stop() {} },
      ...deps,
    },
    plugins: [],
    graphql: { enabled: true, introspection: true },
    metrics: { token: null, metrics: null },
    cron: { secret: "only-for-tests-0123456789", runJob: () => undefined },
    versions,
    deprecationFormat: "simple",
    appUrl: "https://app.example.com",
    corsOrigins: [],
    isReady: async () => true,
    log: { info: note, warn: note, error: note } as unknown as Log,
  });
  return { app, noted };
}

function notAtHome(): never {
  throw new Error("not at home");
}
