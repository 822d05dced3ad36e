import { z } from "zod";
import { ROLES } from "../../domain/caller.ts";
import { refuse } from "../../domain/refusal.ts";
import { UserId } from "../../domain/user-id.ts";
import type { Queryable } from "../../store/database.ts";
import { recordAudit } from "../../store/record-audit.ts";
import { findUser, setRole } from "../../store/users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

export const changeRole = defineOperation({
  name: "users.changeRole",
  summary: "Makes somebody an administrator, or no longer one",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ userId: UserId, role: z.enum(ROLES) }),
  reasons: ["not_found", "last_administrator"],
  output: UserView,
  run: async (deps: { database: Queryable }, caller, { userId, role }) => {
    const outcome = await setRole(deps.database, userId, role);
    if (outcome === "last_administrator") {
      refuse({ reason: "last_administrator" });
    }
    if (outcome === "changed") {
      await recordAudit(deps, caller, {
        action: "user.role_changed",
        target: { type: "user", id: userId },
        details: { role },
      });
    }
    const user = await findUser(deps.database, userId);
    return user ?? refuse({ reason: "not_found", params: { resource: "user" } });
  },
});
