import { redirect } from "next/navigation";
import { cache } from "react";
import type { Person } from "../../domain/callers/caller.ts";
import { currentRequest } from "./request.ts";

/**
 * The signed-in user of a public page. `null` also when that is unknown: public pages work without the
 * database.
 */
export const optionalUser = cache(async (): Promise<Person | null> => {
  const { person, log, id } = await currentRequest();
  return person().catch((error: unknown) => {
    log.error({ err: error, requestId: id }, "a page is shown as if nobody were signed in");
    return null;
  });
});

/** For sign-in pages: redirects users who are already signed in. */
export async function redirectIfSignedIn(onTo = "/dashboard"): Promise<void> {
  if ((await optionalUser()) !== null) redirect(onTo);
}
