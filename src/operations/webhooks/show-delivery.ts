import { z } from "zod";
import { ATTEMPT_SOURCES } from "../../domain/delivery.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { attemptsOf, findLoggedDelivery } from "../../store/delivery-log.ts";
import { defineOperation } from "../operation.ts";
import { ChangesView } from "../subscriptions/changes-view.ts";
import { Delivery, DeliveryId } from "./delivery-view.ts";

const DeliveryInDetail = Delivery.extend({
  payload: z.unknown().describe("As delivered; `null` when it is no longer kept."),
  attemptLog: z
    .array(
      z.object({
        attempt: z.int(),
        source: z.enum(ATTEMPT_SOURCES),
        outcome: z.enum(["successful", "failed"]),
        reason: z.string().nullable(),
        startedAt: z.date(),
        durationMs: z.number(),
        subscriptionId: z.uuid().nullable().describe("The subscription that it has changed; `null`: none."),
        changes: ChangesView.nullable().describe("`null`: nothing was changed."),
      }),
    )
    .describe("Every attempt that is over, the first one first."),
}).meta({ id: "DeliveryInDetail" });

export type DeliveryInDetail = z.output<typeof DeliveryInDetail>;

export const showDelivery = defineOperation({
  name: "webhooks.show",
  summary: "One delivery with its payload and its attempts",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: DeliveryId }),
  reasons: ["not_found"],
  output: DeliveryInDetail,
  run: async (deps: { database: Queryable }, _caller, { id }) => {
    const { payload, ...logged } =
      (await findLoggedDelivery(deps.database, id)) ??
      refuse({ reason: "not_found", params: { resource: "delivery" } });
    return {
      ...logged,
      payload: payload === null ? null : JSON.parse(payload),
      attemptLog: await attemptsOf(deps.database, id),
    };
  },
});
