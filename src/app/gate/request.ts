import { redirect } from "next/navigation";
import { cache } from "react";
import type { Person } from "../../domain/callers/caller.ts";
import { hostedRequest } from "./hosted-request.ts";
import { type PageRequest, pageRequests } from "./page-request.ts";
import { signInAgainPath, signInPath } from "./same-site-path.ts";
import { throwUnavailable } from "./unavailable.ts";

/** The current request. @throws Error outside a request, such as while building */
export async function currentRequest(): Promise<PageRequest> {
  const request = pageRequests().getStore() ?? (await hostedRequest());
  request.markParsed();
  return request;
}

/** The signed-in user; without one, redirects to the sign-in page and back. */
export const requireUser = cache(async (): Promise<Person> => {
  const request = await currentRequest();
  return (await userOf(request)) ?? redirect(signInPath(request.path));
});

/** The same for an action, whose form is lost. */
export async function requireUserOfAction(): Promise<void> {
  const request = await currentRequest();
  if ((await userOf(request)) === null) redirect(signInAgainPath(request.path));
}

function userOf(request: PageRequest): Promise<Person | null> {
  return request.person().catch(throwUnavailable(request));
}
