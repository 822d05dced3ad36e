import { z } from "zod";
import { isAdministrator } from "../../domain/callers/caller.ts";
import { isUserId } from "../../domain/users/user-id.ts";
import type { Queryable } from "../../store/database.ts";
import { listUsers as listed, type User } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, type Page, type PageQuery, pageOf, readPage } from "../page.ts";
import { UserView } from "./user-view.ts";

/** An administrator's API key is not one: it lists its owner alone. */
export const listUsers = defineOperation({
  name: "users.list",
  summary: "Lists all users, oldest first, for administrators; for others, only the caller",
  access: "person",
  permission: "users:read",
  limit: "api",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(UserView),
  run: (deps: { database: Queryable }, caller, page) =>
    pageOfUsers(deps, { ...page, id: isAdministrator(caller) ? null : caller.userId }),
});

/** @param page `id: null`: of all users, else of that one alone */
export function pageOfUsers(
  deps: { database: Queryable },
  { id, ...page }: PageQuery & { id: string | null },
): Promise<Page<User>> {
  return readPage(page, (after, limit) => listed(deps.database, { id, after, limit }), isUserId);
}
