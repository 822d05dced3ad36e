import { z } from "zod";
import { ROLES } from "../../domain/callers/caller.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { UserId } from "../../domain/users/user-id.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { setRole } from "../../store/users/set-role.ts";
import { findUser } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const changeRole = defineOperation({
  name: "users.changeRole",
  summary: "Grants or revokes a user's administrator role",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ userId: UserId, role: z.enum(ROLES) }),
  reasons: ["not_found", "last_administrator"],
  output: UserView,
  run: async (deps: { database: Database }, caller, { userId, role }) => {
    const target = { type: "user", id: userId } as const;
    const entry = { action: "user.role_changed", target, details: { role } } as const;
    const outcome = await withAudit(
      deps.database,
      caller,
      (transaction) => setRole(transaction, userId, role),
      (outcome) => (outcome === "changed" ? entry : null),
    );
    if (outcome === "last_administrator") refuse({ reason: "last_administrator" });
    const user = await findUser(deps.database, userId);
    return user ?? notFound("user");
  },
});
