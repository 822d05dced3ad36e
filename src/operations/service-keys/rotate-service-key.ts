import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { limitText } from "../../limits/policies.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { rotateServiceKey as rotate } from "../../store/keys/service-keys.ts";
import type { NewApiKey } from "../api-keys/create-api-key.ts";
import { defineOperation } from "../operation.ts";
import { NewServiceKeyView, ServiceKeyId } from "./service-key-view.ts";

export const rotateServiceKey = defineOperation({
  name: "serviceKeys.rotate",
  summary:
    "Creates a new secret for a service key and shows it once; the previous one stays valid for 24 hours",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: ServiceKeyId }),
  reasons: ["not_found"],
  output: NewServiceKeyView.extend({
    previousValidUntil: z.date().describe("Until when the previous secret is valid."),
  }),
  run: async (deps: { database: Database; newServiceKey: () => NewApiKey }, caller, { id }) => {
    const { key, ...secret } = deps.newServiceKey();
    const rotated = await withAudit(
      deps.database,
      caller,
      (transaction) => rotate(transaction, id, secret),
      (row) =>
        row && {
          action: "service_key.rotated",
          target: { type: "service_key", id },
          details: { prefix: secret.prefix },
        },
    );
    if (rotated === null) notFound("service_key");
    const { name, permissions, expiresAt, previousValidUntil } = rotated;
    const view = { id, name, prefix: secret.prefix, key, permissions, limit: limitText(rotated) };
    return { ...view, expiresAt, previousValidUntil };
  },
});
