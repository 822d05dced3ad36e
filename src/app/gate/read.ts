import { forbidden, notFound, unstable_rethrow } from "next/navigation";
import { cache } from "react";
import type { z } from "zod";
import type { Caller } from "../../domain/caller.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { type Access, execute, type Operation } from "../../operations/operation.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest, requireUser } from "./request.ts";

/**
 * What a page shows, through the gate: access, validation, logic. It is not charged: limits are for routes and actions,
 * and looking at pages must not use up what a person's programs may do.
 */
export async function read<Input extends z.ZodType, Output extends z.ZodType, A extends Access>(
  operation: Operation<Dependencies, Input, Output, A>,
  input: z.input<Input>,
): Promise<z.input<Output>> {
  const request = currentRequest();
  try {
    const caller: Caller =
      operation.access === "anyone" ? { kind: "nobody", address: request.address } : await requireUser();
    return await execute({ ...operation, limit: null }, request.deps, { caller, charges: [] }, () => input);
  } catch (error) {
    unstable_rethrow(error);
    const refusal = refusalOf(error);
    // What a page reads by comes from its address: one that makes no sense leads nowhere.
    if (refusal?.code === "not_found" || refusal?.code === "invalid_input") notFound();
    if (refusal?.code === "forbidden") forbidden();
    request.log.error(
      { err: error, requestId: request.id, operation: operation.name },
      "a page could not be read",
    );
    // Shown on the error page, where Next.js shows nothing else of an error.
    throw Object.assign(new Error("a page could not be read", { cause: error }), { digest: request.id });
  }
}

/** Of the person who is signed in; who is not goes to the sign-in page. */
export const profile = cache(() => read(showProfile, {}));

/** Pages for administrators begin with this; others are told that they may not. */
export async function requireAdmin(): Promise<void> {
  if ((await requireUser()).role !== "admin") forbidden();
}
