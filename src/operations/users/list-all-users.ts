import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf } from "../page.ts";
import { pageOfUsers } from "./list-users.ts";
import { UserView } from "./user-view.ts";

export const listAllUsers = defineOperation({
  name: "users.listAll",
  summary: "Lists all users, oldest first",
  access: "admin",
  limit: "api",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(UserView),
  run: (deps: { database: Queryable }, _caller, page) => pageOfUsers(deps, { ...page, id: null }),
});
