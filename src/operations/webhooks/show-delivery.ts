import { z } from "zod";
import { ATTEMPT_SOURCES } from "../../domain/deliveries/delivery.ts";
import { FAILURE_REASONS } from "../../domain/deliveries/failures.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { attemptsOf, findLoggedDelivery } from "../../store/deliveries/delivery-detail.ts";
import { defineOperation } from "../operation.ts";
import { ChangesView } from "../subscriptions/changes-view.ts";
import { Delivery, DeliveryId } from "./delivery-view.ts";

const DeliveryInDetail = Delivery.extend({
  payload: z.unknown().describe("As delivered; `null` when it is no longer stored."),
  attemptLog: z
    .array(
      z.object({
        attempt: z.int().describe("Its number, from 1."),
        source: z.enum(ATTEMPT_SOURCES).describe("What triggered it."),
        outcome: z.enum(["successful", "failed"]).describe("How it ended."),
        error: z.string().nullable().describe("Why it failed, as one English sentence."),
        reason: z
          .enum(FAILURE_REASONS)
          .nullable()
          .describe("The same as a stable identifier; `null` also for failures stored by earlier releases."),
        params: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe("Details of the reason, if there are any."),
        startedAt: z.date().describe("When it started."),
        durationMs: z.number().describe("How long it took, in milliseconds."),
        subscriptionId: z.uuid().nullable().describe("The subscription that it changed; `null`: none."),
        changes: ChangesView.nullable().describe(
          "The changed fields, each as a pair of the values before and after; `null`: it changed nothing.",
        ),
      }),
    )
    .describe("Every finished attempt, oldest first."),
}).meta({ id: "DeliveryInDetail", description: "A webhook delivery with its payload and attempts." });

export type DeliveryInDetail = z.output<typeof DeliveryInDetail>;

export const showDelivery = defineOperation({
  name: "webhooks.show",
  summary: "Shows a delivery with its payload and attempts",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: DeliveryId }),
  reasons: ["not_found"],
  output: DeliveryInDetail,
  run: async (deps: { database: Queryable }, _caller, { id }) => {
    const { payload, ...logged } = (await findLoggedDelivery(deps.database, id)) ?? notFound("delivery");
    return {
      ...logged,
      payload: payload === null ? null : JSON.parse(payload),
      attemptLog: await attemptsOf(deps.database, id),
    };
  },
});
