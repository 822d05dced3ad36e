import { randomUUID } from "node:crypto";
import { z } from "zod";
import { EXPIRY_REASONS, expiryOf, KeyExpiry } from "../../domain/callers/key-expiry.ts";
import { PERMISSIONS } from "../../domain/callers/permission.ts";
import { format, problem } from "../../domain/refusals/invalid-input.ts";
import { PersonName } from "../../domain/users/person-name.ts";
import { DEFAULT_SERVICE_KEY_LIMIT, LIMIT_TEXT, limitText, toLimit } from "../../limits/policies.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { insertServiceKey } from "../../store/keys/service-keys.ts";
import type { NewApiKey } from "../api-keys/create-api-key.ts";
import { defineOperation } from "../operation.ts";
import { NewServiceKeyView } from "./service-key-view.ts";

const DAY_SECONDS = 86_400;

/** Bounded by what the limiter accepts. */
const Limit = z
  .string()
  .regex(LIMIT_TEXT, format("limit"))
  .transform(toLimit)
  .refine(
    ({ windowSeconds }) => windowSeconds <= DAY_SECONDS,
    problem({ problem: "malformed", format: "limit" }),
  );

export const createServiceKey = defineOperation({
  name: "serviceKeys.create",
  summary: "Creates a service key, and shows it once",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    name: PersonName.describe("A name, such as the program that uses it."),
    permissions: z
      .array(z.enum(PERMISSIONS))
      .min(1)
      .max(PERMISSIONS.length)
      .describe("What it may do; every other request is refused."),
    limit: Limit.optional().describe("Its rate limit, as requests/seconds; defaults to `600/60`."),
    expiresAt: KeyExpiry,
  }),
  reasons: EXPIRY_REASONS,
  output: NewServiceKeyView,
  run: async (deps: { database: Database; newServiceKey: () => NewApiKey }, caller, input) => {
    const expiresAt = expiryOf(input.expiresAt, new Date());
    const { key, ...secret } = deps.newServiceKey();
    const id = randomUUID();
    const { name, limit = DEFAULT_SERVICE_KEY_LIMIT } = input;
    const permissions = PERMISSIONS.filter((permission) => input.permissions.includes(permission));
    const createdBy = caller.kind === "operator" ? null : caller.userId;
    await withAudit(
      deps.database,
      caller,
      (transaction) =>
        insertServiceKey(transaction, {
          id,
          name,
          permissions,
          ...limit,
          createdBy,
          expiresAt,
          secret,
        }),
      () => ({
        action: "service_key.created",
        target: { type: "service_key", id },
        details: { prefix: secret.prefix, permissions, limit: limitText(limit), expiresAt },
      }),
    );
    return { id, name, prefix: secret.prefix, key, permissions, limit: limitText(limit), expiresAt };
  },
});
