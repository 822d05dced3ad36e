import { forbidden, notFound, redirect, unstable_rethrow } from "next/navigation";
import { cache } from "react";
import type { z } from "zod";
import type { Caller } from "../../domain/callers/caller.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { type AccessLevel, execute, type Operation } from "../../operations/operation.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest, requireUser } from "./request.ts";
import { isUnavailable } from "./unavailable.ts";

/**
 * Runs a query for a page: access, validation, logic. It is exempt from the operation's limit, as viewing
 * pages must not use up what the user's API clients may do.
 */
export async function read<Input extends z.ZodType, Output extends z.ZodType, A extends AccessLevel>(
  operation: Operation<Dependencies, Input, Output, A>,
  input: z.input<Input>,
): Promise<z.input<Output>> {
  const request = await currentRequest();
  try {
    const caller: Caller =
      operation.access === "anyone" ? { kind: "anonymous", address: request.address } : await requireUser();
    return await execute(operation, request.deps, { caller, charges: [], isExempt: true }, () => input);
  } catch (error) {
    unstable_rethrow(error);
    const refusal = refusalOf(error);
    // The input comes from the URL.
    if (refusal?.code === "not_found" || refusal?.code === "invalid_input") notFound();
    if (refusal?.code === "forbidden") forbidden();
    request.log.error(
      { err: error, requestId: request.id, operation: operation.name },
      "page could not be loaded",
    );
    if (isUnavailable(error)) request.setErrorStatus("unavailable");
    // Next.js passes only the digest to the error page.
    throw Object.assign(new Error("page could not be loaded", { cause: error }), { digest: request.id });
  }
}

/** The signed-in user's; redirects to the sign-in page without a session. */
export const profile = cache(() => read(showProfile, {}));

/** Shows the "forbidden" page to anyone else. */
export async function requireAdmin(): Promise<void> {
  const user = await requireUser();
  if (user.role !== "admin") forbidden();
  if (user.kind === "session" && user.needsTwoFactor) redirect("/settings/security");
}
