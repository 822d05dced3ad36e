import type { Person, ServiceKey } from "../../domain/callers/caller.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { parseApiKey } from "./api-key.ts";
import type { AuthenticateApiKey } from "./authenticate-api-key.ts";
import type { AuthenticateServiceKey } from "./authenticate-service-key.ts";

export type AuthenticateKey = (
  presented: string | null,
  address: string,
  now: number,
) => Promise<Person | ServiceKey>;

/**
 * The user that a key acts for, or a service key.
 * @throws Refusal `unauthorized`: the same for unknown, expired and revoked keys and those of a banned owner
 */
export function createKeyAuthenticator(
  authenticateApiKey: AuthenticateApiKey,
  authenticateServiceKey: AuthenticateServiceKey,
): AuthenticateKey {
  return async (presented, address, now) => {
    const parsed = presented === null ? null : parseApiKey(presented);
    if (parsed === null) return refuse({ reason: "unauthorized" });
    const authenticate = parsed.kind === "service" ? authenticateServiceKey : authenticateApiKey;
    return (await authenticate(parsed, address, now)) ?? refuse({ reason: "unauthorized" });
  };
}
