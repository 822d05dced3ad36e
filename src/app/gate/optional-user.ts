import { redirect } from "next/navigation";
import { cache } from "react";
import type { Person } from "../../domain/caller.ts";
import { currentRequest } from "./request.ts";

/**
 * Who looks at a page that is for everybody. `null` also when that cannot be known: without the database there is still
 * something to read.
 */
export const optionalUser = cache(async (): Promise<Person | null> => {
  const { person, log, id } = currentRequest();
  return person().catch((error: unknown) => {
    log.error({ err: error, requestId: id }, "a page is shown as if nobody were signed in");
    return null;
  });
});

/** Pages for signing in begin with this: who is signed in goes on to where they were going. */
export async function redirectIfSignedIn(onTo = "/dashboard"): Promise<void> {
  if ((await optionalUser()) !== null) redirect(onTo);
}
