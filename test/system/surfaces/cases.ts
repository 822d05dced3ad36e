import { BILLING } from "../../fixtures/operations/billing.ts";
import { CHAT } from "../../fixtures/operations/chat.ts";
import { EVENT_ENDPOINTS } from "../../fixtures/operations/event-endpoints.ts";
import { USERS } from "../../fixtures/operations/users.ts";
import type { Case } from "./case.ts";

/** Every operation, by its name. What the contract says of it is said here once more, and by nothing that it is made of. */
export const CASES: Record<string, Case> = { ...BILLING, ...USERS, ...EVENT_ENDPOINTS, ...CHAT };
