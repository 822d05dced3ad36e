import { z } from "zod";
import { format } from "../../domain/refusals/invalid-input.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findUserStates } from "../../store/users/user-states.ts";
import { type NewUser, createUsers as record } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";

const BATCH = 2_000;

/** For trials and load tests. All that can be created are, even if some cannot. */
export const createUsers = defineOperation({
  name: "users.create",
  summary: "Creates users with numbered ids and no password; existing ones stay unchanged",
  access: "operator",
  limit: null,
  input: z.strictObject({
    count: z.int().min(1).max(1_000_000),
    idPrefix: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9._-]{0,99}$/, format("id_prefix"))
      .default("user_"),
  }),
  reasons: ["users_not_created"],
  output: z.object({
    count: z.int(),
    created: z.int(),
    existing: z.int(),
    firstId: z.string(),
    lastId: z.string(),
  }),
  run: async (deps: { database: Queryable }, _caller, { count, idPrefix }) => {
    let created = 0;
    let existing = 0;
    const impossible: string[] = [];
    for (let first = 0; first < count; first += BATCH) {
      const users = numberedUsers(idPrefix, first, Math.min(count, first + BATCH));
      const added = new Set(await record(deps.database, users));
      const notAdded = users.filter((user) => !added.has(user.id)).map((user) => user.id);
      const states = notAdded.length === 0 ? new Map() : await findUserStates(deps.database, notAdded);
      const present = notAdded.filter((id) => states.get(id) === "present");
      created += added.size;
      existing += present.length;
      impossible.push(...notAdded.filter((id) => states.get(id) !== "present"));
    }
    if (impossible.length > 0) {
      refuse({
        reason: "users_not_created",
        params: { failed: impossible.length, count, firstId: impossible[0] ?? "" },
      });
    }
    return { count, created, existing, firstId: `${idPrefix}0`, lastId: `${idPrefix}${count - 1}` };
  },
});

function numberedUsers(idPrefix: string, from: number, to: number): NewUser[] {
  return Array.from({ length: to - from }, (_, index) => {
    const id = `${idPrefix}${from + index}`;
    return { id, name: `User ${from + index}`, email: `${id.toLowerCase()}@example.com` };
  });
}
