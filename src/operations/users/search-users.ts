import { z } from "zod";
import { CONTROL_CHARACTERS } from "../../domain/control-characters.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import { format } from "../../domain/refusals/invalid-input.ts";
import { isUserId } from "../../domain/users/user-id.ts";
import {
  type DirectoryEntry,
  FOUND_BY,
  type FoundBy,
  findUsers,
  newestUsers,
} from "../../store/accounts/user-directory.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import {
  cutPageAt,
  PAGE,
  type Page,
  type PageQuery,
  pageOf,
  readCursor,
  readPage,
  toCursor,
} from "../page.ts";
import { SubscriptionView } from "../subscriptions/subscription-view.ts";
import { UserView } from "./user-view.ts";

const Entry = UserView.extend({
  lastSeenAt: z
    .date()
    .nullable()
    .describe("When one of the user's sessions was last renewed; `null`: there is none."),
  subscription: z
    .object({ planId: SubscriptionView.shape.planId, status: SubscriptionView.shape.status })
    .nullable()
    .describe("The subscription that has not ended; `null`: none."),
}).meta({ id: "DirectoryEntry", description: "A user with their subscription, for administrators." });

/** The text to search users by: as long as an id may be, which is longer than an address. */
const Search = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(new RegExp(`^[^${CONTROL_CHARACTERS}]*$`), format("control_characters"));

export const searchUsers = defineOperation({
  name: "users.search",
  summary: "Lists users with their subscription and last activity, newest first, or searches them",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    search: Search.nullable()
      .default(null)
      .describe("The beginning of an email address, first or last name (case-insensitive), or an id."),
  }),
  reasons: [],
  output: pageOf(Entry),
  run: (deps: Dependencies, _caller, { search, ...page }) =>
    search === null ? newest(deps, page) : findPage(deps, search, page),
});

type Dependencies = { database: Queryable; plans: PlanCatalog };

function newest({ database, plans }: Dependencies, page: PageQuery): Promise<Page<DirectoryEntry>> {
  return readPage(page, (after, limit) => newestUsers(database, plans, { after, limit }), isUserId);
}

const FOUND_POSITION = new RegExp(`^(${FOUND_BY.join("|")})\\.([^\\0]{1,1000})$`);

/** Tries one way of searching after the other until the page is full. */
async function findPage(
  { database, plans }: Dependencies,
  text: string,
  { limit, cursor }: PageQuery,
): Promise<Page<DirectoryEntry>> {
  const [startBy, startAfter] = cursor === null ? [FOUND_BY[0], ""] : readCursor(cursor, FOUND_POSITION);
  const rows: (DirectoryEntry & { by: FoundBy; place: string })[] = [];
  for (const by of FOUND_BY.slice(FOUND_BY.indexOf(startBy as FoundBy))) {
    const after = by === startBy ? startAfter : "";
    // One more than the page holds, to know whether there is a next page.
    const matches = await findUsers(database, plans, { text, by, after, limit: limit + 1 - rows.length });
    rows.push(...matches.map((row) => ({ ...row, by })));
    if (rows.length > limit) break;
  }
  const { items, nextCursor } = cutPageAt(rows, limit, ({ by, place }) => toCursor(`${by}.${place}`));
  return { items: items.map(({ by: _by, place: _place, ...entry }) => entry), nextCursor };
}
