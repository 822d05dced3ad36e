import type { Database } from "../../store/database.ts";
import { revokeOtherSessions } from "../../store/sign-in/revocations.ts";
import { refusalResponse } from "./responses.ts";

/**
 * Better Auth lists a hundred sessions and ends one after the other: a thief may have more, and of two that end each other
 * at once none would be left.
 */
export async function respondToRevokeOtherSessions(
  database: Database,
  userId: string | null,
  sessionId: string | null,
): Promise<Response> {
  if (userId === null || sessionId === null) return refusalResponse({ reason: "unauthorized" });
  const revoked = await revokeOtherSessions(database, userId, sessionId);
  return revoked === null ? refusalResponse({ reason: "unauthorized" }) : Response.json({ status: true });
}
