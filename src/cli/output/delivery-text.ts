import type { DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import type { Delivery } from "../../operations/webhooks/delivery-view.ts";
import type { DeliveryInDetail } from "../../operations/webhooks/show-delivery.ts";
import { facts, printable, style, table } from "./table.ts";
import { inSeconds } from "./times.ts";

export function deliveryTable(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return "no deliveries";
  return table(
    [
      "id",
      "slot",
      "event type",
      "status",
      "attempts",
      "received",
      "next attempt",
      "last reason",
      "last error",
    ],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.provider,
      printable(delivery.eventType, 40),
      statusWord(delivery.status),
      String(delivery.attempts),
      inSeconds(delivery.receivedAt),
      delivery.nextAttemptAt ? inSeconds(delivery.nextAttemptAt) : "",
      printable(delivery.lastReason ?? "", 40),
      printable(delivery.lastError ?? "", 60),
    ]),
    ["right", "left", "left", "left", "right"],
  );
}

export function deliveryDetails(delivery: DeliveryInDetail): string {
  const summary = facts([
    ["id", delivery.id],
    ["slot", delivery.provider],
    ["event", printable(delivery.eventId)],
    ["type", printable(delivery.eventType)],
    ["status", statusWord(delivery.status)],
    ["attempts", String(delivery.attempts)],
    ["last error", printable(delivery.lastError ?? "none", 500)],
    ["last reason", printable(delivery.lastReason ?? "none", 60)],
    ["received", delivery.receivedAt.toISOString()],
    [delivery.status === "failed" ? "failed" : "completed", delivery.completedAt?.toISOString() ?? "not yet"],
    ["next attempt", delivery.nextAttemptAt?.toISOString() ?? "none"],
  ]);
  const attempts = table(
    ["attempt", "by", "outcome", "started", "took", "reason", "error"],
    delivery.attemptLog.map((attempt) => [
      String(attempt.attempt),
      attempt.source,
      statusWord(attempt.outcome),
      attempt.startedAt.toISOString(),
      `${attempt.durationMs.toFixed(1)} ms`,
      printable(attempt.reason ?? "", 40),
      printable(attempt.error ?? "", 120),
    ]),
    ["right", "left", "left", "left", "right"],
  );
  const payload =
    delivery.payload === null
      ? "payload no longer stored"
      : JSON.stringify(delivery.payload, null, 2)
          .split("\n")
          .map((line) => printable(line, 4_000))
          .join("\n");
  return [summary, ...(delivery.attemptLog.length > 0 ? [attempts] : []), payload].join("\n\n");
}

function statusWord(status: DeliveryStatus): string {
  switch (status) {
    case "successful":
      return style("green", status);
    case "pending":
      return style("yellow", status);
    case "failed":
      return style("red", status);
    default:
      return status satisfies never;
  }
}
