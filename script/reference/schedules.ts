import { JOB_SCHEDULES, type JobName } from "../../src/domain/job.ts";
import { DEFAULT_POLICIES } from "../../src/limits/policies.ts";
import { code, table } from "./table.ts";

const DOES: Record<JobName, string> = {
  "webhook-retry": "applies failed deliveries again, and takes over those of crashed processes",
  "self-heal": "compares subscriptions that are out of order with their provider",
  "missed-events-sweep": "finds and applies events that the log lacks",
  "outbound-events": "sends events to endpoints and plugins",
  "unwanted-subscriptions": "cancels second subscriptions, and those of deleted accounts",
  "grace-reminders": "reminds users whose payment has failed, and ends their days of grace",
  "notification-mail": "mails notifications to users who have not turned that off",
  redaction: "removes the personal data of deleted accounts",
  "nightly-comparison":
    "compares subscriptions that are out of order or have changed lately with their provider, once a night",
  "session-clean-up":
    "deletes expired sessions, links and entries of the audit log, and warns of keys that expire",
  retention:
    "deletes payloads, notifications, comparisons, events and usage that are older than they are kept",
};

export function jobRows(): string {
  return table(
    ["job", "schedule", "does"],
    Object.entries(JOB_SCHEDULES).map(([job, schedule]) => [code(job), code(schedule), DOES[job as JobName]]),
  );
}

const BY_ADDRESS = /^(auth-|pages$)/;
/** Reached without a session too. */
const BY_EITHER: readonly string[] = ["api", "graphql", "rpc"];

export function limitRows(): string {
  return table(
    ["scope", "default", "counted by"],
    Object.entries(DEFAULT_POLICIES).map(([scope, { limit, windowSeconds }]) => [
      code(scope),
      `${limit} in ${windowSeconds} s`,
      countedBy(scope),
    ]),
  );
}

function countedBy(scope: string): string {
  if (BY_ADDRESS.test(scope)) return "client address";
  return BY_EITHER.includes(scope) ? "user; client address without a session" : "user";
}
