import type { z } from "zod";
import type { Page } from "../../operations/page.ts";
import { listAllUsers } from "../../operations/users/list-all-users.ts";
import type { UserView } from "../../operations/users/user-view.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { printable, table } from "../output/table.ts";
import { day } from "../output/times.ts";
import { runAsOperator } from "../run-as-operator.ts";

type ListedUser = z.input<typeof UserView>;

export function oldestUsers(
  deps: Parameters<typeof listAllUsers.run>[0],
  options: PageOptions,
): Promise<Page<ListedUser>> {
  return collectPages(options, (page) => runAsOperator(listAllUsers, deps, page));
}

export function userTable(users: readonly ListedUser[]): string {
  if (users.length === 0) return "no users";
  return table(
    ["id", "email", "name", "role", "since"],
    users.map((user) => [
      printable(user.id, 255),
      printable(user.email, 60),
      printable(user.name, 40),
      user.role,
      day(user.createdAt),
    ]),
  );
}
