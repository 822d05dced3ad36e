import type { Queryable } from "../../store/database.ts";
import { findUserByEmail, type User } from "../../store/users.ts";

/** For the operator, who knows people by their address. */
export function findByEmail(deps: { database: Queryable }, email: string): Promise<User | null> {
  return findUserByEmail(deps.database, email.trim());
}
