import type { Page } from "../operations/page.ts";
import { pageOfUsers } from "../operations/users/list-users.ts";
import { collectPages, type PageOptions } from "./collect-pages.ts";
import { printable, table } from "./table.ts";

type ListedUser = Awaited<ReturnType<typeof pageOfUsers>>["items"][number];

export function oldestUsers(
  deps: Parameters<typeof pageOfUsers>[0],
  options: PageOptions,
): Promise<Page<ListedUser>> {
  return collectPages(options, (page) => pageOfUsers(deps, { id: null, ...page }));
}

export function userTable(users: readonly ListedUser[]): string {
  if (users.length === 0) return "no users";
  return table(
    ["id", "email", "name", "role", "since"],
    users.map((user) => [
      user.id,
      printable(user.email, 60),
      printable(user.name, 40),
      user.role,
      user.createdAt.toISOString().slice(0, 10),
    ]),
  );
}
