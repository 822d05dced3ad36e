import { z } from "zod";
import { notFound, refuse } from "../domain/refusals/refusal.ts";
import { isSameAddress } from "../domain/users/email-address.ts";
import type { Queryable } from "../store/database.ts";
import { findUser } from "../store/users/users.ts";

/** What protects people from being deleted by mistake, on every surface. */
export const Confirmation = z
  .string()
  .min(1)
  .max(320)
  .describe("The email address of the account to delete.");

/** @throws Refusal `not_found`; `invalid_input` for another address */
export async function assertConfirmed(
  deps: { database: Queryable },
  userId: string,
  confirmation: string,
): Promise<void> {
  const user = (await findUser(deps.database, userId)) ?? notFound("user");
  if (!isSameAddress(confirmation, user.email))
    refuse({ reason: "confirmation_mismatch", field: "confirmation" });
}
