import type { Case } from "./case.ts";
import { BILLING } from "./cases/billing.ts";
import { CHAT } from "./cases/chat.ts";
import { USERS } from "./cases/users.ts";

/** Every operation, by its name. What the contract says of it is said here once more, and by nothing that it is made of. */
export const CASES: Record<string, Case> = { ...BILLING, ...USERS, ...CHAT };
