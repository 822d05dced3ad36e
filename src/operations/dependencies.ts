import type { CancelSubscription } from "../billing/cancel-at-provider.ts";
import type { HoldCheckout } from "../billing/close-on-deletion.ts";
import type { OperatorLog } from "../billing/map-provider-errors.ts";
import type { Chat } from "../chat/chat.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Payments } from "../domain/providers/payment-api.ts";
import type { ProviderTraits } from "../domain/providers/provider-traits.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import type { Limits } from "../limits/rate-limit.ts";
import type { OutboundAllow } from "../outbound/allowed-targets.ts";
import type { EventFeed } from "../outbound/event-feed.ts";
import type { Database } from "../store/database.ts";
import type { NewApiKey } from "./api-keys/create-api-key.ts";
import type { EntitlementDeps } from "./entitlements/current-view.ts";
import type { Gate } from "./operation.ts";

/** All that operations work with; each names the part that it needs. */
export type Dependencies = Gate & {
  limits: Limits;
  database: Database;
  intake: Intake;
  plans: PlanCatalog;
  /** Of each slot's provider. */
  traits: Record<Slot, ProviderTraits>;
  findEntitlementFacts: EntitlementDeps["findEntitlementFacts"];
  newApiKey(): NewApiKey;
  newServiceKey(): NewApiKey;
  newLinkSecret(): { secret: string; hash: Buffer };
  /** `null`: not configured. */
  chat: Chat | null;
  payments: Payments;
  /** Where checkouts are opened unless the caller chooses. */
  activeProvider: Slot;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  /** Where outbound events may go besides public https addresses. */
  outboundAllow: OutboundAllow;
  /** New events, for streams. */
  eventFeed: EventFeed;
  /** Where checkouts and portals that programs open may return to. */
  returnOrigins: readonly string[];
  log: OperatorLog;
  /** `null`: no payment provider is configured. */
  cancelSubscription: CancelSubscription | null;
  /** `null`: no payment provider is configured. */
  holdCheckout: HoldCheckout | null;
};
