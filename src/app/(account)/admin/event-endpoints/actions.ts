"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { createEventEndpoint as createOperation } from "../../../../operations/event-endpoints/create-endpoint.ts";
import { deleteEventEndpoint as deleteOperation } from "../../../../operations/event-endpoints/delete-endpoint.ts";
import { replayEndpointDeliveries } from "../../../../operations/event-endpoints/replay-deliveries.ts";
import { testEventEndpoint as testOperation } from "../../../../operations/event-endpoints/test-endpoint.ts";
import { updateEventEndpoint as updateOperation } from "../../../../operations/event-endpoints/update-endpoint.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { checkedValues } from "../../../gate/checked-values.ts";
import { FieldError } from "../../../gate/field-error.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";
import { isDeleted } from "../is-deleted.ts";
import { outboundFailureTexts } from "./failure-text.ts";

const PATH = "/admin/event-endpoints";

/** Fields: `url`, `description`, and `types.<type>` for each type to send. Returns the secret, this once. */
export async function createEventEndpoint(form: FormData): Promise<z.input<typeof createOperation.output>> {
  const created = await runAction(createOperation, form, async () => ({
    url: formText(form, "url"),
    types: (await checkedValues(form, "types")) ?? [],
    ...descriptionIn(form),
  }));
  revalidatePath(PATH, "layout");
  return created;
}

/**
 * Fields: `id`, and what is to change: those of `createEventEndpoint`, `enabled` (`true` or `false`),
 * `rotateSecret`.
 */
export async function updateEventEndpoint(form: FormData): Promise<z.input<typeof updateOperation.output>> {
  const updated = await runAction(updateOperation, form, async () => {
    const enabled = formText(form, "enabled");
    return {
      id: formText(form, "id"),
      url: formText(form, "url"),
      types: await checkedValues(form, "types"),
      ...descriptionIn(form),
      ...(enabled === null ? {} : { enabled: enabled === "true" }),
      ...(formText(form, "rotateSecret") === "on" ? { rotateSecret: true } : {}),
    };
  });
  revalidatePath(PATH, "layout");
  return updated;
}

/** An empty field clears the description. */
function descriptionIn(form: FormData): { description?: string | null } {
  const description = formText(form, "description");
  return description === null ? {} : { description: description.trim() || null };
}

/** Fields: `id`, and from the page `url` with `confirmation`, which has to repeat it. */
export async function deleteEventEndpoint(form: FormData): Promise<never> {
  const id = formText(form, "id");
  try {
    await runAction(deleteOperation, form, async () => {
      const url = formText(form, "url");
      if (url !== null && hrefOf(formText(form, "confirmation")) !== hrefOf(url)) {
        const t = await getTranslations("adminEventEndpoints.delete");
        throw new FieldError("confirmation", t("mismatch"));
      }
      return { id };
    });
  } catch (error) {
    if (!(await isDeleted(error, { type: "event_endpoint", id }))) throw error;
  }
  revalidatePath(PATH, "layout");
  redirect(`${PATH}?done=deleted`);
}

/** White space round an address, and a slash in place of no path, make no other address. */
function hrefOf(url: string | null): string | undefined {
  return URL.parse(url ?? "")?.href;
}

/** Fields: `id`, and the `type` of the example event. */
export async function testEventEndpoint(form: FormData): Promise<StatusMessageData> {
  const { delivered, responseStatus, error } = await runAction(testOperation, form, () => ({
    id: formText(form, "id"),
    type: formText(form, "type"),
  }));
  revalidatePath(PATH, "layout");
  const [t, failureText] = await Promise.all([
    getTranslations("adminEventEndpoints.test"),
    outboundFailureTexts(),
  ]);
  if (responseStatus === null) return { tone: "bad", text: t("noResponse", { error: failureText(error) }) };
  const status = String(responseStatus);
  return delivered
    ? { tone: "good", text: t("delivered", { status }) }
    : { tone: "bad", text: t("failed", { status }) };
}

/** Fields: `id`, and the `deliveryId` to replay; empty for all that failed. */
export async function replayEventDeliveries(form: FormData): Promise<StatusMessageData> {
  const { replayed } = await runAction(replayEndpointDeliveries, form, () => {
    const deliveryId = formText(form, "deliveryId");
    return { id: formText(form, "id"), ...(deliveryId ? { deliveryIds: [deliveryId] } : {}) };
  });
  revalidatePath(PATH, "layout");
  const t = await getTranslations("adminEventEndpoints.log");
  return { tone: "good", text: t("replayed", { count: replayed }) };
}
