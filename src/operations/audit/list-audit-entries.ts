import { z } from "zod";
import { TimeInput } from "../../domain/time-input.ts";
import { listAuditEntries as list } from "../../store/audit/audit-log.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { cutPageById, FilterText, IdCursor, PAGE, pageOf } from "../page.ts";

const AuditEntryView = z
  .object({
    id: z.string().describe("The entry's id."),
    at: z.date().describe("When it happened."),
    actor: z
      .object({
        kind: z
          .enum(["session", "api-key", "service-key", "operator", "database"])
          .describe("`operator`: the command line; `database`: a change made with SQL."),
        userId: z.string().nullable().describe("The user who acted; `null`: none."),
        keyId: z.string().nullable().describe("The key that acted; `null`: none."),
      })
      .describe("Who acted."),
    address: z.string().nullable().describe("The client's network address; `null`: none."),
    action: z.string().describe("The action, for example `user.role_changed`."),
    target: z
      .object({
        type: z.string().describe("The kind of target, for example `user`."),
        id: z.string().describe("Its id."),
      })
      .describe("What was acted on."),
    details: z.record(z.string(), z.unknown()).describe("Details of the action."),
  })
  .meta({ id: "AuditEntry", description: "An action of an administrator, an operator or a key." });

const Time = TimeInput.nullable().default(null);

export const listAuditEntries = defineOperation({
  name: "audit.list",
  summary: "Lists the actions of administrators, operators and API keys, newest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    cursor: IdCursor,
    action: FilterText.describe(
      "An action such as `user.role_changed`, or its first word for all of them: `user`.",
    ),
    actor: FilterText.describe("The id of the user or key that acted."),
    target: FilterText.describe("The id of the target."),
    from: Time.describe("At or after this time."),
    to: Time.describe("Before this time."),
  }),
  reasons: [],
  output: pageOf(AuditEntryView),
  run: async (deps: { database: Queryable }, _caller, { cursor, limit, from, to, ...filter }) => {
    const entries = await list(
      deps.database,
      { ...filter, from: from === null ? null : new Date(from), to: to === null ? null : new Date(to) },
      { before: cursor, limit: limit + 1 },
    );
    return cutPageById(entries, limit);
  },
});
