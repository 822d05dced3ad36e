import type { Caller } from "../../domain/callers/caller.ts";
import type { Queryable } from "../database.ts";
import { type AuditActor, insertAuditEntry } from "./audit-log.ts";

/** What can be found in the audit log, as `<noun>.<past participle>`. */
type AuditAction =
  | "user.role_changed"
  | "user.deleted"
  | "user.two_factor_disabled"
  | `calendar_link.${"created" | "revoked"}`
  | "api_key.created"
  | "api_key.revoked"
  | "delivery.replayed"
  | "subscription.reconciled"
  | "subscription.dismissed"
  | "subscription.change_requested"
  | "payment.reconciled"
  | `service_key.${"created" | "rotated" | "revoked"}`
  | `event_endpoint.${"created" | "changed" | "deleted" | "replayed" | "tested"}`
  | `${"users" | "subscriptions"}.imported`;

export type Audited = {
  action: AuditAction;
  target: {
    type:
      | "user"
      | "api_key"
      | "delivery"
      | "subscription"
      | "payment"
      | "event_endpoint"
      | "service_key"
      | "import";
    id: string;
  };
  details?: Record<string, unknown>;
};

/** Records what the caller does, in the transaction that does it. @throws DatabaseUnavailable */
export async function recordAudit(
  transaction: Queryable,
  caller: Caller,
  { action, target, details = {} }: Audited,
): Promise<void> {
  const record = { actor: actorOf(caller), action, targetType: target.type, targetId: target.id, details };
  await insertAuditEntry(transaction, record);
}

function actorOf(caller: Caller): AuditActor {
  switch (caller.kind) {
    case "session":
      return { kind: "session", userId: caller.userId, keyId: null, address: caller.address };
    case "api-key":
      return { kind: "api-key", userId: caller.userId, keyId: caller.keyId, address: caller.address };
    // The user that it acts for has not done it.
    case "on-behalf":
    case "service":
      return { kind: "service-key", userId: null, keyId: caller.keyId, address: caller.address };
    case "operator":
      return { kind: "operator", userId: null, keyId: null, address: null };
    case "anonymous":
      throw new Error("only identified callers perform audited actions");
    default:
      return caller satisfies never;
  }
}
