import { isUuid } from "../../domain/uuid.ts";
import { listKeysWithOwners, type OwnedKey } from "../../store/api-key-directory.ts";
import type { Queryable } from "../../store/database.ts";
import { cutPage, type Page, positionOf } from "../page.ts";

/** For the operator. @param page `userId: null`: the keys of everybody @throws Refusal `invalid_input` */
export async function listAnyKeys(
  deps: { database: Queryable },
  { userId, limit, cursor }: { userId: string | null; limit: number; cursor: string | null },
): Promise<Page<OwnedKey>> {
  const before = positionOf(cursor, isUuid);
  const rows = await listKeysWithOwners(deps.database, userId, { before, limit: limit + 1 });
  return cutPage(rows, limit, { item: ({ createdAtMicros: _, ...key }) => key, position: (row) => row });
}
