import { pageOfUsers } from "../operations/users/list-users.ts";
import { printable, table } from "./table.ts";

const LARGEST_PAGE = 100;

type Listed = Awaited<ReturnType<typeof pageOfUsers>>["items"][number];

/** Follows the pages until there are enough, or no more. */
export async function oldestUsers(deps: Parameters<typeof pageOfUsers>[0], limit: number): Promise<Listed[]> {
  const found: Listed[] = [];
  let cursor: string | null = null;
  do {
    const limitOfPage = Math.min(LARGEST_PAGE, limit - found.length);
    const { items, nextCursor } = await pageOfUsers(deps, { id: null, cursor, limit: limitOfPage });
    found.push(...items);
    cursor = nextCursor;
  } while (cursor !== null && found.length < limit);
  return found;
}

export function userTable(users: readonly Listed[]): string {
  if (users.length === 0) return "no users";
  return table(
    ["id", "email", "name", "role", "since"],
    users.map((one) => [
      one.id,
      printable(one.email, 60),
      printable(one.name, 40),
      one.role,
      one.createdAt.toISOString().slice(0, 10),
    ]),
  );
}
