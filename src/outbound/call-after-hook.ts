import type { OutboundEvent, SubscriptionEventType } from "../domain/outbound/outbound-event.ts";
import type { AfterSubscriptionChange, CommittedChange } from "../domain/outbound/subscription-hook.ts";
import type { AttemptResult } from "../store/outbound/record-outbound-attempts.ts";

type CallOptions = {
  /** Undefined: this process no longer has the plugin. */
  call: AfterSubscriptionChange | undefined;
  log: { warn(facts: object, message: string): void };
  timeoutMs?: number;
};

const TIMEOUT_MS = 15_000;

/** Calls a plugin's hook as if it were an endpoint. */
export async function callAfterHook(
  { call, log, timeoutMs = TIMEOUT_MS }: CallOptions,
  plugin: string,
  event: Omit<OutboundEvent, "version">,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const resultOf = (error: string | null): AttemptResult => ({
    isDelivered: error === null,
    durationMs: performance.now() - startedAt,
    responseStatus: null,
    error,
  });
  if (call === undefined) return resultOf("the plugin is not loaded");
  const { promise: tooSlow, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    await Promise.race([(async () => call(committedChange(event)))(), tooSlow]);
    return resultOf(null);
  } catch (err) {
    log.warn({ err, plugin, eventId: event.id }, "afterSubscriptionChange failed: it is called again");
    // PostgreSQL stores no NUL.
    return resultOf(err instanceof Error ? err.message.slice(0, 300).replaceAll("\0", "\ufffd") : "failed");
  } finally {
    clearTimeout(timer);
  }
}

type SubscriptionJson = Omit<
  CommittedChange["subscription"],
  "currentPeriodEnd" | "createdAt" | "updatedAt"
> & { currentPeriodEnd: string | null; createdAt: string; updatedAt: string };

function committedChange({ id, type, occurredAt, data }: Omit<OutboundEvent, "version">): CommittedChange {
  const { subscription, externalId } = data as {
    subscription: SubscriptionJson;
    externalId: string | null;
  };
  const { currentPeriodEnd, createdAt, updatedAt } = subscription;
  return {
    id,
    type: type as SubscriptionEventType,
    occurredAt,
    externalId,
    subscription: {
      ...subscription,
      currentPeriodEnd: currentPeriodEnd === null ? null : new Date(currentPeriodEnd),
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    },
  };
}
