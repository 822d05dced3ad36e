import { z } from "zod";
import { format } from "../../domain/invalid-input.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import {
  type DirectoryEntry,
  FOUND_BY,
  type FoundBy,
  findUsers,
  newestUsers,
} from "../../store/user-directory.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, type Page, pageOf } from "../page.ts";
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

/** The text to search users by. */
const Search = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, format("control_characters"));

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
  run: (deps: { database: Queryable }, _caller, { search, ...page }) =>
    search === null ? newest(deps.database, page) : findPage(deps.database, search, page),
});

type PageQuery = { limit: number; cursor: string | null };

const NewestPosition = z.tuple([z.string().regex(/^-?\d{1,17}$/), z.string().regex(/^[^\0]{1,255}$/)]);

async function newest(database: Queryable, { limit, cursor }: PageQuery): Promise<Page<DirectoryEntry>> {
  const after = positionIn(cursor, NewestPosition);
  const rows = await newestUsers(database, { after, limit: limit + 1 });
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map(toEntry),
    nextCursor: rows.length > limit && last ? toCursor(last.place) : null,
  };
}

const FoundPosition = z.tuple([z.enum(FOUND_BY), z.string().regex(/^[^\0]{0,1000}$/)]);

/** Tries one way of searching after the other until the page is full. */
async function findPage(
  database: Queryable,
  text: string,
  { limit, cursor }: PageQuery,
): Promise<Page<DirectoryEntry>> {
  const [startBy, startAfter] = positionIn(cursor, FoundPosition) ?? [FOUND_BY[0], ""];
  const rows: (DirectoryEntry & { by: FoundBy; place: string })[] = [];
  for (const by of FOUND_BY.slice(FOUND_BY.indexOf(startBy))) {
    const after = by === startBy ? startAfter : "";
    // One more than the page holds, to know whether there is a next page.
    const matches = await findUsers(database, text, { by, after, limit: limit + 1 - rows.length });
    rows.push(...matches.map((row) => ({ ...row, by })));
    if (rows.length > limit) break;
  }
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map(({ by: _, ...row }) => toEntry(row)),
    nextCursor: rows.length > limit && last ? toCursor([last.by, last.place]) : null,
  };
}

function toEntry<Row extends DirectoryEntry & { place: unknown }>({
  place: _,
  ...entry
}: Row): DirectoryEntry {
  return entry;
}

function toCursor(position: readonly string[]): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** @throws Refusal `invalid_input` for a cursor that no page returned */
function positionIn<Position>(cursor: string | null, schema: z.ZodType<Position>): Position | null {
  if (cursor === null) return null;
  const parsed = schema.safeParse(parseOrNull(Buffer.from(cursor, "base64url").toString()));
  if (!parsed.success)
    refuse({ reason: "invalid_input", params: { problem: "malformed", format: "cursor" }, field: "cursor" });
  return parsed.data;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
